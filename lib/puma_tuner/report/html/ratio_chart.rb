# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Measured ratios with their intervals beside the predicted ones, on a logarithmic line around 1.
      class RatioChart
        include RatiosOnScale

        LEFT = 180
        RIGHT = 350

        # Where the columns beside the plot begin.
        COLUMNS = {"measured" => 520, "predicted" => 656, "outcome" => 724}.freeze
        COLUMNS_WITHOUT_FORECAST = {"measured" => 540, "outcome" => 700}.freeze

        # Of each of the two names above a group, and of a metric's beside the plot.
        NAME_LENGTH = 40
        LABEL_LENGTH = 22

        ROW_HEIGHT = 30
        HEADING_HEIGHT = 26
        AXIS_HEIGHT = 46
        TOP = 20

        Row = Data.define(:y, :name, :low, :high, :value, :predicted, :outcome, :texts, :title)

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @verdict = contents.verdict
          @groups = contents.other_cells.to_h { |cell| [cell.variant, compared(contents, cell)] }.reject { |_, rows| rows.empty? }
          numbers = @groups.values.flatten.map(&:comparison).flat_map { |comparison| [comparison.ratio.low, comparison.ratio.high, comparison.predicted_ratio] }
          @scale = scale_of_ratios(numbers) if @groups.any?
        end

        # @return [Integer] where the rows end and the axis begins
        def plot_bottom = TOP + @groups.sum { |_, rows| HEADING_HEIGHT + rows.size * ROW_HEIGHT } + 4

        # @return [Hash{String => Integer}] headings of the texts beside the plot, and their places
        def columns = predicted? ? COLUMNS : COLUMNS_WITHOUT_FORECAST

        # @return [Boolean] whether any forecast is shown
        def predicted? = @verdict.comparisons.any?(&:predicted_ratio)

        # @return [Array<Array(String, Float, Array<Row>)>] each variant's name, its place, its rows
        def groups
          y = TOP
          @groups.map do |variant, compared|
            heading_y = y + 18
            y += HEADING_HEIGHT
            rows = compared.map { |row| row(row, y + ROW_HEIGHT / 2).tap { y += ROW_HEIGHT } }
            [[variant, @verdict.baseline].map { |name| Figures.shortened(name, NAME_LENGTH) }.join(" over "), heading_y, rows]
          end
        end

        private

        def compared(contents, cell) = ComparisonRows.new(contents, cell).rows.select(&:comparison)

        def row(found, y)
          ratio = found.comparison.ratio
          predicted = found.comparison.predicted_ratio
          Row.new(y:, name: "#{Figures.shortened(found.metric.label, LABEL_LENGTH)}#{" *" if found.primary}",
            low: @scale.place(ratio.low), high: @scale.place(ratio.high), value: @scale.place(ratio.value),
            predicted: predicted && @scale.place(predicted), outcome: found.outcome,
            texts: [found.ratio, *(Units.times(predicted) if predicted?), found.words],
            title: "#{found.label}: measured #{found.ratio}, #{Figures.level(ratio)} of #{Figures.counted(ratio.samples_count, "round")}" \
              "#{", predicted #{Units.times(predicted)}" if predicted}; #{found.words}")
        end
      end
    end
  end
end
