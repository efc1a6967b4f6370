# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Rows below each other on one horizontal scale, with an axis beneath: each has a name, a plot, and facts beside
      # it.
      #
      # It is a table whose plots are pictures. Places across are percent of a plot, so that it can have any width while
      # its text keeps its size; where there is little room, name and facts stand above and below it. Subclasses set
      # `@scale` (nil: nothing to draw) and have rows or groups.
      class RowChart
        # style: a class of the table's row, nil without; facts: texts, as many as there are headings; marks: in the
        # order of drawing
        Row = Data.define(:name, :title, :style, :facts, :marks)

        # What can be drawn in a plot; low, value, high and x are places.
        Interval = Data.define(:low, :value, :high)

        # A mark beside an interval.
        Diamond = Data.define(:x)

        # A line between two values.
        Pair = Data.define(:low, :high)

        # A single figure.
        Dot = Data.define(:x, :symbol, :title)

        # A line across the row.
        Rule = Data.define(:x, :title)

        # path: of SVG, percent across, and down to the row's height in pixels
        Hill = Data.define(:path, :height)

        PLACES = 0..100

        # @return [Boolean] whether there is anything to draw
        def any? = !@scale.nil?

        # @return [Integer] in pixels
        def row_height = 30

        # @return [Array<String>] of the facts
        def headings = []

        # @return [Array<Array(String, Array<Row>)>] names of groups, nil without, and their rows
        def groups = [[nil, rows]]

        # @return [Float, nil] the place of what all else is held against
        def one = nil

        # @return [Array<Array(Float, String)>] places and names along the bottom
        def ticks = tick_numbers.map { |number| [@scale.place(number), tick_name(number)] }

        # @return [String] path of SVG: a line for each tick, from 0 to 1
        def grid = ticks.map { |x, _| "M#{x} 0V1" }.join

        private

        # @param numbers [Array<Numeric>] to be covered
        def scale_over(numbers, **) = numbers.any? ? Scale.new(numbers, PLACES, **) : nil

        def tick_numbers = @scale.ticks
      end
    end
  end
end
