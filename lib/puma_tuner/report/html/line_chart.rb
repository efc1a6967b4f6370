# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Something over something else, a line for each series. Places across are percent of the plot's width, those up
      # and down are pixels, so that it can have any width while its text keeps its size.
      class LineChart
        PLOT_HEIGHT = 190
        TOP = 6
        AXIS_HEIGHT = 24

        # Names of places stand slanted: what each letter of the longest adds beneath the plot, and how long they can
        # be.
        LETTER_HEIGHT = 5.2
        NAME_LENGTH = 22

        # Series that share named places are moved apart by so many percent, so that intervals do not cover each other.
        SHIFT = 0.8

        # symbol: of the variant; points: [[x, y, low, high], …], a y of nil leaves a gap, low and high are nil without
        # an interval
        Series = Data.define(:symbol, :title, :points)

        # words: how its numbers are read; unit: nil where they or the name tell it; whole: whether only whole ones make
        # sense; zero: whether it begins there; places: [[x, name], …] where it has names instead of numbers
        Axis = Data.define(:name, :words, :unit, :whole, :zero, :places) do
          def initialize(name:, words:, unit: nil, whole: false, zero: false, places: nil) = super

          # @return [String]
          def full_name = [name, unit].compact.join(", ")
        end

        # path: of SVG; signs: the points that have their series' symbol
        Line = Data.define(:symbol, :title, :path, :signs)

        # low, high: places, nil without; title: nil where the line's says all
        Sign = Data.define(:x, :y, :low, :high, :title)

        attr_reader :id, :title, :reading, :legend

        # @param id [String] of the figure
        # @param reading [String] how to read it
        # @param legend [Array<Array(Integer, String)>] symbols and what they stand for
        # @param series [Array<Series>]
        # @param across [Axis]
        # @param up [Axis]
        # @param each_point [Boolean] whether each point has its symbol and title, and not only a line's last
        def initialize(id:, title:, reading:, legend:, series:, across:, up:, each_point: false)
          @id = id
          @title = title
          @reading = reading
          @legend = legend
          @series = series.map { |one| one.with(points: one.points.reject { |x, _| x.nil? }) }
            .select { |one| one.points.count { |_, y| y } > (each_point ? 0 : 1) }
          @across = across
          @up = up
          @each_point = each_point
          scale if @series.any?
        end

        # @return [Boolean] whether there is anything to draw
        def any? = @series.any?

        # @return [Boolean] whether places have names
        def named? = !@across.places.nil?

        # @return [Boolean] whether it takes the page's width
        def wide? = @each_point

        # @return [Numeric] in pixels
        def height
          longest = named? ? x_ticks.map { |_, name| name.length }.max : 0
          plot_bottom + AXIS_HEIGHT + (LETTER_HEIGHT * longest).ceil
        end

        # @return [Integer]
        def plot_bottom = TOP + PLOT_HEIGHT

        # @return [String] for those who do not see it
        def label = "#{title}: #{y_name} over #{x_name}, a line for each #{@each_point ? "series" : "trial"}"

        # @return [String]
        def x_name = @across.full_name

        # @return [String]
        def y_name = @up.full_name

        # @return [Array<Array(Float, String)>] places and names along the bottom
        def x_ticks
          return names(@x_scale, @across) unless named?
          @across.places.map { |x, name| [@x_scale.place(x), Figures.shortened(name, NAME_LENGTH)] }
        end

        # @return [Array<Array(Float, String)>] places and names along the side
        def y_ticks = names(@y_scale, @up)

        # @return [Array<Line>]
        def lines = @lines ||= @series.each_with_index.map { |series, index| line(series, shift(index)) }

        private

        def scale
          points = @series.flat_map(&:points)
          @x_scale = Scale.new(points.map(&:first) + @across.places.to_a.map(&:first), 0..100)
          @y_scale = Scale.new([*(0 if @up.zero), *points.flat_map { |point| point.drop(1) }.compact], plot_bottom..TOP)
        end

        def names(scale, axis)
          numbers = scale.ticks.reject { |number| number.negative? && (axis.whole || axis.zero) }
          numbers.select! { |number| number == number.round } if axis.whole
          numbers.map { |number| [scale.place(number), axis.words.call(number)] }
        end

        def shift(index) = named? ? (index - (@series.size - 1) / 2.0) * SHIFT : 0

        # What follows a gap begins anew.
        def line(series, shift)
          pen = "M"
          steps = series.points.map do |x, y|
            next pen = "M" unless y
            step = "#{pen}#{across(x, shift)} #{@y_scale.place(y)}"
            pen = "L"
            step
          end
          seen = series.points.select { |_, y| y }
          signs = seen.map { |point| sign(series, shift, *point) } if @each_point
          signs ||= [sign(nil, shift, *seen.last.first(2))]
          Line.new(symbol: series.symbol, title: series.title, path: (steps - ["M"]).join, signs:)
        end

        def sign(series, shift, x, y, low = nil, high = nil)
          Sign.new(x: across(x, shift), y: @y_scale.place(y), low: low && @y_scale.place(low),
            high: high && @y_scale.place(high), title: series && told(series, x, y, low, high))
        end

        def across(x, shift) = (@x_scale.place(x) + shift).round(2)

        def told(series, x, y, low, high)
          place = @across.places&.find { |known, _| known == x }&.last || @across.words.call(x)
          range = " (#{Units.significant(low)}–#{Units.significant(high)})" if low
          "#{series.title}, #{place}: #{Units.significant(y)}#{range} #{@up.unit || @up.name}"
        end
      end
    end
  end
end
