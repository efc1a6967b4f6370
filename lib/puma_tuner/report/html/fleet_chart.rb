# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Ratios of one group of servers to another: as they were, and at equal traffic.
      class FleetChart < IntervalChart
        # @param comparison [Fleet::Comparison]
        def initialize(comparison)
          @rows = comparison.rows.select(&:ratio)
          @told = Sections::Fleet.new(comparison).told.to_h { |row| [row.label, row] }
          @scale = scale_of(@rows.flat_map { |row| [row.ratio, row.adjusted] })
        end

        # @return [String] for those who do not see it
        def label = "Ratios of b to a, with their intervals"

        # @return [Array<String>]
        def headings = ["ratio"]

        # @return [Array<String>] below the axis, from left to right
        def axis_names = ["← less in b", "more in b →"]

        # @return [Array<Row>]
        def rows = @rows.map { |row| row(row, @told.fetch(row.label)) }

        private

        def row(row, told)
          Row.new(name: row.label, style: "outcome-#{row.outcome || :not_shown}", facts: [told.ratio],
            marks: marks(row.ratio, row.adjusted&.value),
            title: "#{row.label}: #{told.a} to #{told.b}, #{told.ratio}; at equal traffic #{told.adjusted}" \
              "#{"; #{Figures.outcome(row.outcome)}" if row.outcome}")
        end
      end
    end
  end
end
