# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # What charts have in common whose rows stand below each other on one horizontal scale, with an axis beneath. They set
      # @scale (nil: nothing to draw) and say where their rows end.
      module RowsOnScale
        WIDTH = 860
        RIGHT = 24
        AXIS_HEIGHT = 42

        # @return [Boolean] whether there is anything to draw
        def any? = !@scale.nil?

        # @return [Integer] of the page
        def width = WIDTH

        # @return [Integer] where the plot begins
        def left = self.class::LEFT

        # @return [Integer] where it ends
        def right = WIDTH - self.class::RIGHT

        # @return [Numeric]
        def top = self.class::TOP

        # @return [Numeric]
        def height = plot_bottom + self.class::AXIS_HEIGHT

        # @return [Array<Array(Float, String)>] places and names along the bottom
        def ticks = tick_numbers.map { |number| [@scale.place(number), tick_name(number)] }

        private

        # @param numbers [Array<Numeric>] to be covered
        def scale_over(numbers, **) = numbers.any? ? Scale.new(numbers, left..right, **) : nil

        def tick_numbers = @scale.ticks
      end
    end
  end
end
