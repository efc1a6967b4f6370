# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Each variant by its memory (across) and CPU (up), with both intervals, and a line through those that nothing beats.
      class TradeoffChart
        WIDTH = 860
        HEIGHT = 420
        LEFT = 70
        RIGHT = 190
        TOP = 20
        BOTTOM = 60

        # What a name takes, about.
        NAME_WIDTH = 170
        LINE_HEIGHT = 14

        # x, y: of the middle; low, high: of the intervals' ends
        Mark = Data.define(:x, :y, :x_low, :x_high, :y_low, :y_high, :label_y, :name, :title, :style)

        # @param study [Tradeoff::Study]
        def initialize(study)
          @study = study
          @figures = TradeoffFigures.new(study)
          @points = study.points
          @x_scale = Scale.new(numbers(:memory_ratio), LEFT..(WIDTH - RIGHT))
          @y_scale = Scale.new(numbers(:cpu_ratio), (HEIGHT - BOTTOM)..TOP)
        end

        # @return [Boolean] whether anything differs
        def any? = @points.size > 1

        # @return [Array<Array(Float, String)>]
        def x_ticks = @x_scale.ticks.map { |number| [@x_scale.place(number), "#{number.round(2)}x"] }

        # @return [Array<Array(Float, String)>]
        def y_ticks = @y_scale.ticks.map { |number| [@y_scale.place(number), "#{number.round(2)}x"] }

        # Names that would stand on each other move apart.
        #
        # @return [Array<Mark>] from the bottom up
        def marks
          @figures.rows.map { |row| mark(row) }.sort_by { |mark| -mark.y }.each_with_object([]) do |mark, placed|
            lowest = placed.select { |other| (other.x - mark.x).abs < NAME_WIDTH }.map { |other| other.label_y - LINE_HEIGHT }.min
            placed << mark.with(label_y: [mark.label_y, lowest].compact.min)
          end
        end

        # @return [String] path of SVG
        def front = "M#{@study.front.map { |point| "#{@x_scale.place(point.memory)} #{@y_scale.place(point.cpu)}" }.join("L")}"

        private

        def numbers(field)
          @points.flat_map { |point| point.public_send(field)&.then { |ratio| [ratio.low, ratio.high] } || [1.0] }
        end

        def mark(row)
          point = row.point
          x_low, x_high = ends(point.memory_ratio, @x_scale)
          y_low, y_high = ends(point.cpu_ratio, @y_scale)
          Mark.new(x: @x_scale.place(point.memory), y: @y_scale.place(point.cpu), x_low:, x_high:, y_low:, y_high:, label_y: @y_scale.place(point.cpu) - 7, name: row.name,
            title: "#{row.name}: CPU #{row.cpu_ratio}, memory #{row.memory_ratio}", style: {"recommended" => "recommended", "front" => "front"}.fetch(row.mark, "other"))
        end

        def ends(estimate, scale) = estimate ? [scale.place(estimate.low), scale.place(estimate.high)] : [scale.place(1), scale.place(1)]
      end
    end
  end
end
