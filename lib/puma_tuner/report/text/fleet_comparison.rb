# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Two groups of servers: what each did, and by how much they differ.
      class FleetComparison < Section
        def initialize(comparison, paint)
          super
          @figures = FleetFigures.new(comparison)
        end

        private

        def shown? = true

        def heading = @figures.title

        def lines
          [*%w[a b].zip(@figures.groups).flat_map { |name, text| paragraph(text, label: "  #{name}", indent: 5) }, "", *rows, *@figures.notes.flat_map { |text| note(text) }, *warnings]
        end

        def rows
          table = table(["", "a", "b", "change", "ratio", "at equal traffic", "<outcome"])
          @figures.rows.each { |row| table << [row.label, row.a, row.b, row.change || "-", row.ratio, row.adjusted, outcome(row)] }
          table.lines
        end

        def outcome(row) = row.outcome ? @paint.call(Figures.outcome(row.outcome), Paint::OUTCOMES.fetch(row.outcome)) : ""

        def warnings
          return [] if @contents.warnings.empty?
          ["", @paint.call("The data", :bold), *@contents.warnings.flat_map { |text| paragraph(text, label: "  - ", indent: 4) }]
        end
      end
    end
  end
end
