# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Measured ratios with their intervals beside the predicted ones, on a logarithmic line around 1.
      class RatioChart
        WIDTH = 860
        LEFT = 140
        RIGHT = 350

        # Where the columns beside the plot begin.
        COLUMNS = {"measured" => 530, "predicted" => 655, "outcome" => 722}.freeze

        ROW_HEIGHT = 30
        HEADING_HEIGHT = 26
        AXIS_HEIGHT = 46
        TOP = 20

        Row = Data.define(:y, :name, :low, :high, :value, :predicted, :outcome, :texts, :title)

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @verdict = contents.verdict
          @groups = @verdict.comparisons.group_by(&:variant)
          numbers = @verdict.comparisons.flat_map { |comparison| [comparison.ratio.low, comparison.ratio.high, comparison.predicted_ratio] }
          @scale = Scale.new([*numbers.compact, 1], LEFT..(WIDTH - RIGHT), logarithmic: true)
        end

        # @return [Boolean] whether there is anything to draw
        def any? = @groups.any?

        # @return [Integer] where the rows end and the axis begins
        def plot_bottom = TOP + @groups.sum { |_, comparisons| HEADING_HEIGHT + comparisons.size * ROW_HEIGHT } + 4

        # @return [Integer]
        def height = plot_bottom + AXIS_HEIGHT

        # @return [Float] where nothing would have changed
        def one = @scale.place(1)

        # @return [Array<Array(Float, String)>] places and names along the bottom
        def ticks = @scale.ticks.map { |ratio| [@scale.place(ratio), "#{ratio}x"] }

        # @return [Boolean] whether any forecast is shown
        def predicted? = @verdict.comparisons.any?(&:predicted_ratio)

        # @return [Array<Array(String, Float, Array<Row>)>] each variant's name, its place, its rows
        def groups
          y = TOP
          @groups.map do |variant, comparisons|
            heading_y = y + 18
            y += HEADING_HEIGHT
            rows = comparisons.map { |comparison| row(comparison, y + ROW_HEIGHT / 2).tap { y += ROW_HEIGHT } }
            ["#{variant} over #{@verdict.baseline}", heading_y, rows]
          end
        end

        private

        def row(comparison, y)
          ratio = comparison.ratio
          predicted = comparison.predicted_ratio
          name = Figures::METRICS.fetch(comparison.metric, comparison.metric)
          outcome = Figures::OUTCOMES.fetch(comparison.outcome, comparison.outcome)
          Row.new(y:, name:, low: @scale.place(ratio.low), high: @scale.place(ratio.high), value: @scale.place(ratio.value),
            predicted: predicted && @scale.place(predicted), outcome: comparison.outcome.tr(" ", "-"),
            texts: [Figures.ratio(ratio), Units.times(predicted), outcome],
            title: "#{name}: measured #{Figures.ratio(ratio)}, #{Figures.level(ratio)} of #{Figures.counted(ratio.samples_count, "round")}" \
              "#{", predicted #{Units.times(predicted)}" if predicted}; #{outcome}")
        end
      end
    end
  end
end
