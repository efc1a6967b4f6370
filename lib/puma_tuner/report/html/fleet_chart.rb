# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Ratios of one group of servers to another, on a logarithmic line around 1: as they were, and at equal traffic.
      class FleetChart
        include RatiosOnScale

        LEFT = 190
        RIGHT = 190
        TOP = 24
        ROW_HEIGHT = 34

        # Where the column of texts begins.
        TEXTS = 690

        # adjusted: places of the interval at equal traffic, nil without
        Row = Data.define(:y, :name, :low, :high, :value, :adjusted, :text, :style, :title)

        # @param comparison [Fleet::Comparison]
        def initialize(comparison)
          @rows = comparison.rows.select(&:ratio)
          @told = FleetFigures.new(comparison).rows.to_h { |row| [row.label, row] }
          numbers = @rows.flat_map { |row| [row.ratio, row.adjusted].compact.flat_map { |estimate| [estimate.low, estimate.high] } }
          @scale = scale_of_ratios(numbers) if @rows.any?
        end

        # @return [Integer] where the rows end and the axis begins
        def plot_bottom = TOP + @rows.size * ROW_HEIGHT

        # @return [Array<Row>]
        def rows = @rows.each_with_index.map { |row, index| row(row, TOP + index * ROW_HEIGHT + ROW_HEIGHT / 2) }

        private

        def row(row, y)
          told = @told.fetch(row.label)
          low, high, value = places(row.ratio)
          Row.new(y:, name: row.label, low:, high:, value:, adjusted: row.adjusted && places(row.adjusted), text: told.ratio, style: row.outcome || :not_shown,
            title: "#{row.label}: #{told.a} to #{told.b}, #{told.ratio}; at equal traffic #{told.adjusted}#{"; #{Figures.outcome(row.outcome)}" if row.outcome}")
        end

        def places(estimate) = [estimate.low, estimate.high, estimate.value].map { |number| @scale.place(number) }
      end
    end
  end
end
