# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Each variant by its memory (across) and CPU (up), with both intervals, and a line through those that nothing
      # beats. Places are those of a LineChart.
      class TradeoffChart
        PLOT_HEIGHT = 340
        TOP = 20
        AXIS_HEIGHT = 24

        # Names are placed for a telephone: what has room there has room in a wider window, as marks only move apart. In
        # pixels, of the plot and what is free beside it, and about, of a letter.
        NARROW = {width: 290, left: 50, right: 12}.freeze
        NAME_LENGTH = 26
        LETTER_WIDTH = 6.8
        LINE_HEIGHT = 14

        # How far a name can stand below its mark's middle, in the order of trying; further away a line leads there.
        OFFSETS = [4, -9, 17, -23, 31, -37, 45, -51, 59, -65].freeze
        NEAR = -9..17

        # What is drawn of a variant, by what it is; the first matters most.
        STYLES = %w[recommended front other].freeze

        # x, y: of the middle; low, high: of the intervals' ends
        Mark = Data.define(:x, :y, :x_low, :x_high, :y_low, :y_high, :name, :title, :style)

        # y: of a name; left: whether it stands left of its mark; leader: whether a line leads there
        Label = Data.define(:y, :left, :leader)

        # What something takes in a narrow window, in pixels.
        Box = Data.define(:left, :right, :top, :bottom) do
          def self.around(mark)
            new(left: across(mark) - 6, right: across(mark) + 6, top: mark.y - 6, bottom: mark.y + 6)
          end

          def self.of(label, mark)
            side = label.left ? -1 : 1
            left, right = [9, 9 + mark.name.length * LETTER_WIDTH].map { |away| across(mark) + side * away }.sort
            new(left:, right:, top: label.y - LINE_HEIGHT + 3, bottom: label.y + 3)
          end

          def self.across(mark) = mark.x / 100.0 * NARROW[:width]

          def overlaps?(other) = left < other.right && other.left < right && top < other.bottom && other.top < bottom

          def inside?(height)
            left > -NARROW[:left] && right < NARROW[:width] + NARROW[:right] && top > 0 && bottom < height
          end
        end

        # @param study [Tradeoff::Study]
        def initialize(study)
          @study = study
          @told = Sections::Tradeoff.new(study).told
          @points = study.points
          @x_scale = Scale.new(numbers(:memory_ratio), 0..100)
          @y_scale = Scale.new(numbers(:cpu_ratio), plot_bottom..TOP)
        end

        # @return [Boolean] whether anything differs
        def any? = @points.size > 1

        # @return [Boolean] it takes the page's width
        def wide? = true

        # @return [Boolean] its axes have numbers
        def named? = false

        # @return [Integer]
        def plot_bottom = TOP + PLOT_HEIGHT

        # @return [Integer] in pixels
        def height = plot_bottom + AXIS_HEIGHT

        # @return [String] for those who do not see it
        def label = "CPU per request over memory, a mark for each variant; the table below has the same numbers"

        # @return [String]
        def x_name = "memory (sum of PSS), over #{@study.baseline.variant}"

        # @return [String]
        def y_name = "CPU per request, over #{@study.baseline.variant}"

        # @return [Array<Array(Float, String)>]
        def x_ticks = @x_scale.ticks.map { |number| [@x_scale.place(number), "#{number.round(2)}x"] }

        # @return [Array<Array(Float, String)>]
        def y_ticks = @y_scale.ticks.map { |number| [@y_scale.place(number), "#{number.round(2)}x"] }

        # @return [Array<Mark>] from the least memory to the most
        def marks = @marks ||= @told.map { |row| mark(row) }

        # @return [Hash{Mark => Label}] what matters most has the best place
        def labels
          taken = marks.map { |mark| Box.around(mark) }
          marks.sort_by { |mark| STYLES.index(mark.style) }.to_h do |mark|
            boxes = places(mark).to_h { |label| [label, Box.of(label, mark)] }
            free = boxes.find { |_, box| box.inside?(height) && taken.none? { |other| other.overlaps?(box) } }
            label, box = free || boxes.first
            taken << box
            [mark, label]
          end
        end

        # @return [String] path of SVG
        def front
          places = @study.pareto_front.map { |point| "#{@x_scale.place(point.memory)} #{@y_scale.place(point.cpu)}" }
          "M#{places.join("L")}"
        end

        private

        def numbers(field)
          @points.flat_map { |point| point.public_send(field)&.then { |ratio| [ratio.low, ratio.high] } || [1.0] }
        end

        def mark(row)
          point = row.point
          x_low, x_high = ends(point.memory_ratio, @x_scale)
          y_low, y_high = ends(point.cpu_ratio, @y_scale)
          Mark.new(x: @x_scale.place(point.memory), y: @y_scale.place(point.cpu), x_low:, x_high:, y_low:, y_high:,
            name: Figures.shortened(row.name, name_length),
            title: "#{row.name}: CPU #{row.cpu_ratio}, memory #{row.memory_ratio}",
            style: STYLES.include?(row.mark) ? row.mark : STYLES.last)
        end

        def name_length = @name_length ||= Figures.length_apart(@told.map(&:name), NAME_LENGTH)

        # @return [Array<Label>] those that a mark's name can have, the best first
        def places(mark)
          OFFSETS.product([false, true]).map do |offset, left|
            Label.new(y: (mark.y + offset).round(2), left:, leader: !NEAR.cover?(offset))
          end
        end

        def ends(estimate, scale)
          (estimate ? [estimate.low, estimate.high] : [1, 1]).map { |ratio| scale.place(ratio) }
        end
      end
    end
  end
end
