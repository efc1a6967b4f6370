# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # A lab's chart: points with their intervals, joined by lines, one line for each series. It begins at zero.
      class FindingChart
        WIDTH = 860
        LEFT = 70
        RIGHT = 20
        TOP = 30
        PLOT_HEIGHT = 240
        AXIS_HEIGHT = 42

        # Names of places stand slanted: what is beneath the plot, and what each letter of the longest adds to it.
        NAMED_AXIS_HEIGHT = 46
        LETTER_HEIGHT = 4.2
        NAME_LENGTH = 24

        # Series that share their places are moved apart by this much, so that intervals do not cover each other.
        SHIFT = 5

        # x, y, low, high: places; low is nil without an interval
        Point = Data.define(:x, :y, :low, :high, :title)

        # path: of SVG
        Line = Data.define(:symbol, :path, :points)

        # @param chart [Lab::Chart]
        def initialize(chart)
          @chart = chart
          @points = chart.series.flat_map(&:points)
          return if @points.empty?
          @x_scale = Report::Html::Scale.new(@points.map(&:first) + chart.across.ticks.to_a.map(&:first), LEFT..(WIDTH - RIGHT))
          @y_scale = Report::Html::Scale.new([0, *@points.flat_map { |_, y, low, high| [y, low, high] }.compact], plot_bottom..TOP)
        end

        # @return [Boolean] whether there is anything to draw
        def any? = @points.any?

        # @return [String] of the figure
        def id = @chart.id

        # @return [String]
        def title = @chart.title

        # @return [String] how to read it
        def reading = @chart.reading

        # @return [String] for those who do not see it
        def label = "#{title}: #{y_name} over #{x_name}"

        # @return [String]
        def x_name = name_of(@chart.across)

        # @return [String]
        def y_name = name_of(@chart.up)

        # @return [Boolean] whether places have names
        def named? = !@chart.across.ticks.nil?

        # @return [Integer]
        def plot_bottom = TOP + PLOT_HEIGHT

        # @return [Integer]
        def height = plot_bottom + (named? ? (NAMED_AXIS_HEIGHT + LETTER_HEIGHT * x_ticks.map { |_, name| name.length }.max).ceil : AXIS_HEIGHT)

        # @return [Array<Array(Integer, String)>] symbols and what they stand for
        def legend = @chart.series.each_with_index.map { |series, index| [Report::Html::Symbols.number(index), series.title] }

        # @return [Array<Array(Float, String)>] places and names along the bottom
        def x_ticks = named? ? @chart.across.ticks.map { |x, name| [@x_scale.place(x), Report::Figures.shortened(name, NAME_LENGTH)] } : ticks(@x_scale)

        # @return [Array<Array(Float, String)>] places and names along the side
        def y_ticks = ticks(@y_scale).select { |place, _| place <= plot_bottom }

        # @return [Array<Line>]
        def lines = @chart.series.each_with_index.map { |series, index| line(series, index) }

        private

        def name_of(axis) = [axis.name, axis.unit].compact.join(", ")

        def ticks(scale) = scale.ticks.reject(&:negative?).map { |number| [scale.place(number), words(number)] }

        def words(number) = (number == number.to_i) ? Report::Figures.count(number.to_i) : format("%.4g", number)

        def line(series, index)
          shift = named? ? (index - (@chart.series.size - 1) / 2.0) * SHIFT : 0
          points = series.points.map { |x, y, low, high| point(series, x, y, low, high, shift) }
          Line.new(symbol: Report::Html::Symbols.number(index), points:, path: points.each_with_index.map { |point, place| "#{place.zero? ? "M" : "L"}#{point.x} #{point.y}" }.join)
        end

        def point(series, x, y, low, high, shift)
          name = @chart.across.ticks&.find { |place, _| place == x }&.last || words(x)
          range = " (#{Units.significant(low)}–#{Units.significant(high)})" if low
          Point.new(x: (@x_scale.place(x) + shift).round(1), y: @y_scale.place(y), low: low && @y_scale.place(low), high: high && @y_scale.place(high),
            title: "#{series.title}, #{name}: #{Units.significant(y)}#{range} #{@chart.up.unit || @chart.up.name}")
        end
      end
    end
  end
end
