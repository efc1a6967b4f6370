# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Every attempt at a round as a line, every trial on it as a dot: what the proof rests on, nothing averaged.
      class RoundsChart
        WIDTH = 860
        LEFT = 140
        RIGHT = 24
        ROW_HEIGHT = 26
        TOP = 8
        AXIS_HEIGHT = 42

        # How many variants can be told apart; the baseline is the first.
        SYMBOLS_COUNT = 5

        Row = Data.define(:y, :name, :void, :title, :line, :dots)
        Dot = Data.define(:x, :symbol, :title)

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @cells = [contents.baseline_cell, *contents.other_cells].compact
          @attempts = contents.attempts
          numbers = @attempts.flatten.filter_map(&:throughput_per_s).select(&:positive?)
          @scale = Scale.new(numbers, LEFT..(WIDTH - RIGHT)) if numbers.any?
        end

        # @return [Boolean] whether there is anything to draw
        def any? = !@scale.nil?

        # @return [Integer]
        def height = plot_bottom + AXIS_HEIGHT

        # @return [Integer] where the rows end and the axis begins
        def plot_bottom = TOP + @attempts.size * ROW_HEIGHT

        # @return [Array<Array(Float, String)>] places and names along the bottom
        def ticks = @scale.ticks.map { |number| [@scale.place(number), Units.rate(number)] }

        # @return [Array<Array(Integer, String)>] symbol and name of each variant
        def legend = @cells.each_with_index.map { |cell, index| [symbol(index), Figures.variant(cell)] }

        # @return [Boolean] whether a round was tried again
        def void_any? = rows.any?(&:void)

        # @return [Array<Row>]
        def rows = @rows ||= @attempts.each_with_index.map { |trials, index| row(trials, index) }

        private

        def symbol(index) = [index, SYMBOLS_COUNT - 1].min

        def row(trials, index)
          reason = trials.filter_map(&:void_reason).first
          dots = trials.filter_map { |trial| dot(trial) }
          round = trials.first.round + 1
          Row.new(y: TOP + (index + 0.5) * ROW_HEIGHT, name: "round #{round}#{", void" if reason}", void: !reason.nil?,
            title: reason && "void: #{reason}", line: dots.map(&:x).minmax, dots:)
        end

        def dot(trial)
          return unless trial.throughput_per_s&.positive?
          index = @cells.index { |cell| cell.variant == trial.variant } || 0
          Dot.new(x: @scale.place(trial.throughput_per_s), symbol: symbol(index),
            title: "#{trial.variant}, round #{trial.round + 1}, #{ordinal(trial.position)} in it: " \
              "#{Units.rate(trial.throughput_per_s)} requests/s, #{Figures.counted(trial.requests_count, "request")}#{", void: #{trial.void_reason}" if trial.void_reason}")
        end

        def ordinal(position) = %w[first second third][position] || "#{position + 1}th"
      end
    end
  end
end
