# frozen_string_literal: true

module PumaTuner
  module Report
    # A short summary for a pull request or a chat: the sentences, today beside the recommended settings, the proof, and,
    # folded away, the reasons. Whoever wants more opens the HTML report.
    class Markdown
      KINDS = %i[observation sweep advice_list verdict tuning fleet].freeze

      # Endpoints or topologies in a table.
      ROWS_MAX = 12

      # notes: sentences beneath it
      Table = Data.define(:title, :headings, :rows, :notes)

      autoload :FleetSummary, "puma_tuner/report/markdown/fleet_summary"
      autoload :Forecasts, "puma_tuner/report/markdown/forecasts"
      autoload :Markup, "puma_tuner/report/markdown/markup"
      autoload :Measured, "puma_tuner/report/markdown/measured"
      autoload :Proof, "puma_tuner/report/markdown/proof"

      include Markup

      # @return [String]
      def call(value)
        return FleetSummary.new(value).to_markdown << "\n" if value.class::KIND == :fleet
        @contents = Contents.of(value)
        [heading, summary, glance, *details, repeat].compact.join("\n\n") << "\n"
      end

      private

      def heading
        title = @contents.headline || Findings.title(@contents)
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
          return blocks.map { |title, text| folded(title, text) }
        end
        (blocks.size > 1) ? blocks.map { |title, text| "**#{title}**\n\n#{text}" } : blocks.values
      end

      def measured = @contents.observation ? bodies(Measured.new(@contents.observation).tables) : {}

      def foundations = @contents.verdict ? bodies(Proof.new(@contents).foundations) : {}

      def bodies(tables) = tables.to_h { |table| [table.title, body(table)] }

      def advice
        list = @contents.advice_list&.advice
        list.map { |advice| advice_lines(advice).join("\n") }.join("\n\n") if list&.any?
      end

      def advice_lines(advice)
        told = AdviceWords.of(advice)
        facts = {"Change" => told.change, "Cost" => told.cost, "Undo" => told.undo}
        [
          "**#{"Remark: " if advice.remark?}#{escaped(told.title)}**", "",
          *facts.map { |label, text| "- #{label}: #{escaped(text)}" },
          *told.evidence.map { |sentence| "- #{escaped(sentence)}" }
        ]
      end

      def forecasts
        return unless @contents.sweep
        forecasts = Forecasts.new(@contents)
        blocks = forecasts.tables.flat_map { |table| [*("**#{escaped(table.title)}**" if table.title), body(table)] }
        [*(escaped(forecasts.assumed) if forecasts.assumed), *blocks].join("\n\n")
      end

      def repeat = (to_repeat(@contents.command) if @contents.command)
    end
  end
end
