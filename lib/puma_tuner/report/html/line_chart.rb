# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Something over something else, a thin line for each trial, which ends with its variant's sign.
      class LineChart
        WIDTH = 420
        LEFT = 62
        RIGHT = 14
        TOP = 26
        PLOT_HEIGHT = 170
        AXIS_HEIGHT = 42

        # symbol: of the variant; points: [[x, y], …], a y of nil leaves a gap
        Series = Data.define(:symbol, :title, :points)

        # An axis: its name, how its numbers are read, and whether only whole ones make sense
        Axis = Data.define(:name, :words, :whole)

        # path: of SVG; finish: place of the last point
        Line = Data.define(:symbol, :title, :path, :finish)

        attr_reader :id, :title, :reading

        # @param id [String] of the figure
        # @param reading [String] how to read it
        # @param series [Array<Series>]
        # @param across [Axis]
        # @param up [Axis]
        def initialize(id:, title:, reading:, series:, across:, up:)
          @id = id
          @title = title
          @reading = reading
          @series = series.map { |one| one.with(points: one.points.reject { |x, _| x.nil? }) }.select { |one| one.points.count(&:last) > 1 }
          @across = across
          @up = up
          return if @series.empty?
          points = @series.flat_map(&:points)
          @x_scale = Scale.new(points.map(&:first), LEFT..(WIDTH - RIGHT))
          @y_scale = Scale.new(points.filter_map(&:last), plot_bottom..TOP)
        end

        # @return [Boolean] whether there is anything to draw
        def any? = @series.any?

        # @return [Integer]
        def height = plot_bottom + AXIS_HEIGHT

        # @return [Integer]
        def plot_bottom = TOP + PLOT_HEIGHT

        # @return [String] for those who do not see it
        def label = "#{title}: #{@up.name} over #{@across.name}, a line for each trial"

        # @return [String]
        def x_name = @across.name

        # @return [String]
        def y_name = @up.name

        # @return [Array<Array(Float, String)>] places and names along the bottom
        def x_ticks = names(@x_scale, @across)

        # @return [Array<Array(Float, String)>] places and names along the side
        def y_ticks = names(@y_scale, @up)

        # @return [Array<Line>]
        def lines = @series.map { |series| line(series) }

        private

        def names(scale, axis)
          scale.ticks.select { |number| !axis.whole || (number >= 0 && number == number.round) }
            .map { |number| [scale.place(number), axis.words.call(number)] }
        end

        # What follows a gap begins anew.
        def line(series)
          pen = "M"
          steps = series.points.map do |x, y|
            next pen = "M" unless y
            step = "#{pen}#{@x_scale.place(x)} #{@y_scale.place(y)}"
            pen = "L"
            step
          end
          x, y = series.points.reverse.find(&:last)
          Line.new(symbol: series.symbol, title: series.title, path: (steps - ["M"]).join, finish: [@x_scale.place(x), @y_scale.place(y)])
        end
      end
    end
  end
end
