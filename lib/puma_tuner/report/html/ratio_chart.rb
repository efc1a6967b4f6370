# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Measured ratios with their intervals beside the predicted ones.
      class RatioChart < IntervalChart
        # @param contents [Contents] with a verdict
        def initialize(contents)
          @verdict = contents.verdict
          @groups = contents.other_cells.to_h { |cell| [cell.variant, compared(contents, cell)] }
            .reject { |_, rows| rows.empty? }
          comparisons = @groups.values.flatten.map(&:comparison)
          @scale = scale_of(comparisons.flat_map { |comparison| [comparison.ratio, comparison.predicted_ratio] })
        end

        # @return [String] for those who do not see it
        def label = "Ratios measured in pairs with their intervals#{", and predicted ones" if predicted?}"

        # @return [Array<String>]
        def headings = ["measured", *("predicted" if predicted?), "outcome"]

        # @return [Array<String>] below the axis, from left to right
        def axis_names = ["← less than the baseline", "more →"]

        # @return [Boolean] whether any forecast is shown
        def predicted? = @verdict.comparisons.any?(&:predicted_ratio)

        # @return [Array<Array(String, Array<Row>)>] each variant's name and its rows
        def groups
          @groups.map do |variant, compared|
            ["#{variant} over #{@verdict.baseline}", compared.map { |found| row(found) }]
          end
        end

        private

        def compared(contents, cell) = ComparisonRows.new(contents, cell).rows.select(&:comparison)

        def row(found)
          ratio = found.comparison.ratio
          predicted = found.comparison.predicted_ratio
          rounds = "#{Figures.level(ratio)} of #{Figures.counted(ratio.samples_count, "round")}"
          Row.new(name: "#{found.metric.label}#{" *" if found.primary}", style: "outcome-#{found.outcome}",
            marks: marks(ratio, predicted), facts: [found.ratio, *(Units.times(predicted) if predicted?), found.words],
            title: "#{found.label}: measured #{found.ratio}, #{rounds}" \
              "#{", predicted #{Units.times(predicted)}" if predicted}; #{found.words}")
        end
      end
    end
  end
end
