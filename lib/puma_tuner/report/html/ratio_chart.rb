# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Ratios that a section made, with their intervals, on a logarithmic line around 1.
      class RatioChart < RowChart
        # label: for those who do not see it; headings: of the ratios' facts; axis_names: below the axis, from left to
        # right; legend: signs (:interval, :other or nil) and what they stand for
        attr_reader :label, :headings, :axis_names, :legend

        # @param groups [Hash{String => Array<Blocks::Ratio>}] by what they are of, nil where nobody needs to know
        def initialize(groups:, label:, headings:, axis_names:, legend:)
          @groups = groups.reject { |_, ratios| ratios.empty? }
          @label = label
          @headings = headings
          @axis_names = axis_names
          @legend = legend
          numbers = @groups.values.flatten
            .flat_map { |ratio| [ratio.estimate.low, ratio.estimate.high, *ratio.other] }
          @scale = scale_over([*numbers, 1], logarithmic: true) if numbers.any?
        end

        # @return [Array<Array(String, Array<Row>)>]
        def groups = @groups.transform_values { |ratios| ratios.map { |ratio| row(ratio) } }.to_a

        # @return [Float] where nothing would have changed
        def one = @scale.place(1)

        private

        def row(ratio)
          Row.new(name: ratio.name, title: ratio.title, style: "outcome-#{ratio.outcome || :not_shown}",
            facts: ratio.facts, marks: marks(ratio.estimate, ratio.other))
        end

        def marks(estimate, other)
          low, value, high = [estimate.low, estimate.value, estimate.high].map { |ratio| @scale.place(ratio) }
          [Interval.new(low:, value:, high:), *(Diamond.new(x: @scale.place(other)) if other)]
        end

        def tick_name(ratio) = "#{ratio}x"
      end
    end
  end
end
