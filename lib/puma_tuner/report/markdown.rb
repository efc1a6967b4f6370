# frozen_string_literal: true

module PumaTuner
  module Report
    # A short summary for a pull request or a chat: the sentences, today beside the recommended settings, the proof, and,
    # folded away, the reasons. Whoever wants more opens the HTML report.
    class Markdown
      KINDS = %i[observation sweep advice_list verdict tuning].freeze

      # Endpoints or topologies in a table.
      ROWS_MAX = 12

      # notes: sentences beneath it
      Table = Data.define(:title, :headings, :rows, :notes)

      autoload :Forecasts, "puma_tuner/report/markdown/forecasts"
      autoload :Measured, "puma_tuner/report/markdown/measured"
      autoload :Proof, "puma_tuner/report/markdown/proof"

      # @return [String]
      def call(value)
        @contents = Contents.of(value)
        [heading, summary, glance, *details, repeat].compact.join("\n\n") << "\n"
      end

      private

      def heading
        title = @contents.recommendation&.title || Findings.title(@contents)
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
        return unless @contents.verdict
        tables = Proof.new(@contents).comparisons
        blocks = tables.flat_map { |table| [*("**#{escaped(table.title)}**" if tables.size > 1), body(table)] }
        [*blocks, *ComparisonNotes.new(@contents).all.join(" ").then { |text| escaped(text) unless text.empty? }].join("\n\n") if blocks.any?
      end

      # A value on its own is what was asked for, and stands open; what a proof rests on is long, and does not.
      def details
        blocks = {"Why, what it costs, how to undo it" => advice, **measured, **foundations, "Predicted" => forecasts}.compact
        if @contents.whole? || @contents.verdict
          return blocks.map { |title, text| "<details><summary>#{without_markup(title)}</summary>\n\n#{text}\n\n</details>" }
        end
        (blocks.size > 1) ? blocks.map { |title, text| "**#{title}**\n\n#{text}" } : blocks.values
      end

      def measured = @contents.observation ? bodies(Measured.new(@contents.observation).tables) : {}

      def foundations = @contents.verdict ? bodies(Proof.new(@contents).foundations) : {}

      def bodies(tables) = tables.to_h { |table| [table.title, body(table)] }

      def body(table) = [table(table.headings, table.rows), *(escaped(table.notes.join(" ")) if table.notes.any?)].join("\n\n")

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
        return unless @contents.sweep
        forecasts = Forecasts.new(@contents)
        blocks = forecasts.tables.flat_map { |table| [*("**#{escaped(table.title)}**" if table.title), body(table)] }
        [*(escaped(forecasts.assumed) if forecasts.assumed), *blocks].join("\n\n")
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
      def escaped(text) = without_markup(text).gsub(/[\\`*_\[\]|#~]/) { |character| "\\#{character}" }

      # Inside an element, where Markdown's own characters have no meaning.
      def without_markup(text)
        Figures.printable(text).gsub(/[&<>]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;").gsub("@", "@\u200b")
      end

      Report.register :markdown, self
    end
  end
end
