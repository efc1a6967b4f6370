# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Every attempt at a round as a line, every trial on it as a dot: what the proof rests on, nothing averaged.
      class RoundsChart
        include RowsOnScale

        LEFT = 140
        TOP = 8
        ROW_HEIGHT = 26

        Row = Data.define(:y, :name, :void, :title, :line, :dots)
        Dot = Data.define(:x, :symbol, :title)

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @cells = contents.cells
          @noun = contents.noun
          @metric = contents.primary
          @attempts = contents.attempts
          @scale = scale_over(@attempts.flatten.filter_map { |trial| value(trial) })
        end

        # @return [String] of the axis: what was declared beforehand
        def axis_name = @metric.label

        # @return [Integer] where the rows end and the axis begins
        def plot_bottom = TOP + @attempts.size * ROW_HEIGHT

        # @return [Array<Array(Integer, String)>] symbol and name of each variant
        def legend = @cells.each_with_index.map { |cell, index| [Symbols.number(index), Figures.variant(cell)] }

        # @return [Boolean] whether a round was tried again
        def void_any? = rows.any?(&:void)

        # @return [Array<Row>]
        def rows = @rows ||= @attempts.each_with_index.map { |trials, index| row(trials, index) }

        private

        def value(trial) = trial.values[@metric.name]&.then { |number| number if number.positive? }

        def tick_name(number) = Figures.number(@metric, number)

        def row(trials, index)
          reason = trials.filter_map(&:void).first&.detail
          dots = trials.filter_map { |trial| dot(trial) }
          round = trials.first.round + 1
          Row.new(y: TOP + (index + 0.5) * ROW_HEIGHT, name: "round #{round}#{", void" if reason}", void: !reason.nil?,
            title: reason && "void: #{reason}", line: dots.map(&:x).minmax, dots:)
        end

        def dot(trial)
          number = value(trial) or return
          index = @cells.index { |cell| cell.variant == trial.variant } || 0
          Dot.new(x: @scale.place(number), symbol: Symbols.number(index),
            title: "#{trial.variant}, round #{trial.round + 1}, #{ordinal(trial.position)} in it: #{Figures.labelled(@metric, number)}, " \
              "#{Figures.counted(trial.requests_count || 0, @noun)}#{", void: #{trial.void.detail}" if trial.void}")
        end

        def ordinal(position) = %w[first second third][position] || "#{position + 1}th"
      end
    end
  end
end
