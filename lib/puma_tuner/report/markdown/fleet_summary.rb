# frozen_string_literal: true

module PumaTuner
  module Report
    class Markdown
      # Two groups of servers: the table open, the rest folded away.
      class FleetSummary
        include Markup

        # @param comparison [Fleet::Comparison]
        def initialize(comparison)
          @comparison = comparison
          @figures = FleetFigures.new(comparison)
        end

        # @return [String]
        def to_markdown
          ["### PumaTuner: #{escaped(@figures.title)}", @figures.groups.zip(%w[a b]).map { |text, name| "- **#{name}**: #{escaped(text)}" }.join("\n"), rows, *warnings, *mix,
            folded("Services", services), *(to_repeat(@comparison.command) if @comparison.command)].join("\n\n")
        end

        private

        def rows
          cells = @figures.rows.map { |row| [row.label, row.a, row.b, row.change || "-", row.ratio, row.adjusted, Figures.outcome(row.outcome)] }
          [table(["", "a", "b", "change", "ratio", "at equal traffic", "outcome"], cells), escaped(@figures.notes.join(" "))].join("\n\n")
        end

        def warnings = @comparison.warnings.any? ? [@comparison.warnings.map { |text| "- #{escaped(text)}" }.join("\n")] : []

        def mix = [@figures.mix_sentence, @figures.mix_p99].compact.map { |text| escaped(text) }

        def services
          advice = @figures.advice.flat_map { |name, sentences| sentences.map { |text| "- #{escaped(name)}: #{escaped(text)}" } }
          [table(FleetFigures::SERVICE_HEADINGS, @figures.services.map { |row| row.to_h.values }), escaped(@figures.service_notes.join(" ")), *(advice.join("\n") if advice.any?)].join("\n\n")
        end
      end
    end
  end
end
