# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Every attempt at a round as a line, every trial on it as a dot: nothing is averaged.
      class RoundsChart < RowChart
        # @param contents [Contents] with a verdict
        def initialize(contents)
          @cells = contents.cells
          @noun = contents.noun
          @metric = contents.primary
          @attempts = contents.attempts
          @scale = scale_over(@attempts.flatten.filter_map { |trial| value(trial) })
        end

        # @return [String] for those who do not see it
        def label = "#{@metric.label} of every trial, a line for each round"

        # @return [Array<String>] what was declared beforehand
        def axis_names = ["", @metric.label]

        # @return [Integer]
        def row_height = 26

        # @return [Array<Array(Integer, String)>] symbol and name of each variant
        def legend = Html.legend(@cells)

        # @return [Boolean] whether a round was tried again
        def void_any? = @attempts.any? { |trials| void(trials) }

        # @return [Array<Row>]
        def rows = @attempts.map { |trials| row(trials) }

        private

        def value(trial) = trial.values[@metric.name]&.then { |number| number if number.positive? }

        def void(trials) = trials.filter_map(&:void).first

        def tick_name(number) = Figures.number(@metric, number)

        def row(trials)
          reason = Statements.words(void(trials)&.detail)
          dots = trials.filter_map { |trial| dot(trial) }
          round = "round #{trials.first.round + 1}"
          low, high = dots.map(&:x).minmax
          Row.new(name: "#{round}#{", void" if reason}", title: reason ? "void: #{reason}" : round,
            style: "round#{" void" if reason}", facts: [], marks: [*(Pair.new(low:, high:) if low), *dots])
        end

        def dot(trial)
          number = value(trial) or return
          index = @cells.index { |cell| cell.variant == trial.variant } || 0
          Dot.new(x: @scale.place(number), symbol: Html.symbol(index),
            title: "#{trial.variant}, round #{trial.round + 1}, #{ordinal(trial.position)} in it: " \
              "#{Figures.labelled(@metric, number)}, #{Figures.counted(trial.requests_count || 0, @noun)}" \
              "#{", void: #{Statements.words(trial.void.detail)}" if trial.void}")
        end

        def ordinal(position) = %w[first second third][position] || "#{position + 1}th"
      end
    end
  end
end
