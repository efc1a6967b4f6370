# frozen_string_literal: true

module PumaTuner
  module Report
    # A short summary for a pull request or a chat: the sentences, today beside the recommended settings, the proof, and,
    # folded away, the reasons. Whoever wants more opens the HTML report.
    class Markdown
      KINDS = %i[observation sweep advice_list verdict tuning].freeze

      # Endpoints or topologies in a table.
      ROWS_MAX = 12

      autoload :Measured, "puma_tuner/report/markdown/measured"

      # @return [String]
      def call(value)
        @contents = Contents.of(value)
        [heading, summary, glance, *details, repeat].compact.join("\n\n") << "\n"
      end

      private

      def heading
        title = @contents.recommendation&.title
        "### PumaTuner#{": #{escaped(title)}" if title}"
      end

      def summary
        points = Summary.new(@contents).points
        points.map { |point| "- **#{point.label}.** #{escaped(point.text)}" }.join("\n") if points.any?
      end

      def glance
        glance = Glance.new(@contents)
        return comparisons if glance.rows.empty?
        headings = ["", *glance.headings, "predicted ratio", "measured ratio", "outcome"]
        rows = glance.rows.map { |row| row.to_h.values }
        columns = glance.measured? ? headings.size : 4
        table(headings.first(columns), rows.map { |row| row.first(columns) })
      end

      # Of a proof on its own, which knows of no recommendation.
      def comparisons
        verdict = @contents.verdict
        return if verdict.nil? || verdict.comparisons.empty?
        rows = verdict.comparisons.map do |comparison|
          [comparison.variant, Figures::METRICS.fetch(comparison.metric, comparison.metric), Units.times(comparison.predicted_ratio),
            Figures.ratio(comparison.ratio), Figures::OUTCOMES.fetch(comparison.outcome, comparison.outcome)]
        end
        table(["against #{verdict.baseline}", "", "predicted ratio", "measured ratio", "outcome"], rows)
      end

      # A value on its own is what was asked for, and stands open.
      def details
        blocks = {"Why, what it costs, how to undo it" => advice, **measured, "Predicted" => forecasts}.compact
        return blocks.map { |title, text| "<details><summary>#{title}</summary>\n\n#{text}\n\n</details>" } if @contents.whole?
        (blocks.size > 1) ? blocks.map { |title, text| "**#{title}**\n\n#{text}" } : blocks.values
      end

      def measured
        observation = @contents.observation or return {}
        Measured.new(observation).tables.to_h do |table|
          [table.title, "#{table(table.headings, table.rows)}\n\n#{escaped(table.notes.join(" "))}"]
        end
      end

      def advice
        list = @contents.advice_list&.advice
        list.map { |advice| advice_lines(advice).join("\n") }.join("\n\n") if list&.any?
      end

      def advice_lines(advice)
        facts = {"Change" => advice.change, "Cost" => advice.cost, "Undo" => advice.undo}
        [
          "**#{"Remark: " if advice.remark?}#{escaped(advice.title)}**", "",
          *facts.map { |label, text| "- #{label}: #{escaped(text)}" },
          *advice.evidence.map { |sentence| "- #{escaped(sentence)}" }
        ]
      end

      def forecasts
        sweep = @contents.sweep or return
        marks = Marks.new(@contents)
        shown = (sweep.forecasts.size > ROWS_MAX) ? marks.interesting : sweep.forecasts
        rows = shown.map do |forecast|
          [forecast.topology.to_s, Figures.with_range(forecast.throughput_per_s) { |per_s| Units.rate(per_s) },
            Figures.with_range(forecast.p50_ns) { |ns| Units.duration(ns) }, Figures.with_range(forecast.p99_ns) { |ns| Units.duration(ns) },
            marks.of(forecast.topology).join(", ")]
        end
        "#{table(["workers x threads", "requests/s", "p50", "p99", ""], rows)}\n\nMiddle and range of " \
          "#{Figures.counted(sweep.seeds_count, "simulation")}; #{shown.size} of #{Figures.counted(sweep.forecasts.size, "topology", "topologies")}."
      end

      # As a block of code, where nothing needs to be escaped, so that it can be copied.
      def repeat
        "To repeat it:\n\n    #{Figures.printable(@contents.command)}" if @contents.command
      end

      def table(headings, rows)
        lines = [headings, *rows].map { |cells| "| #{cells.map { |cell| escaped(cell) }.join(" | ")} |" }
        lines.insert(1, "|#{" --- |" * headings.size}").join("\n")
      end

      # Names come from the app: they must neither become markup nor call somebody by an @.
      def escaped(text)
        Figures.printable(text).gsub(/[&<>]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;")
          .gsub(/[\\`*_\[\]|#~]/) { |character| "\\#{character}" }.gsub("@", "@\u200b")
      end

      Report.register :markdown, self
    end
  end
end
