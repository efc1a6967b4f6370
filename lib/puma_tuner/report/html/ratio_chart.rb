# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Ratios that a section made.
      class RatioChart < IntervalChart
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
          @scale = scale_of(@groups.values.flatten.flat_map { |ratio| [ratio.estimate, ratio.other] })
        end

        # @return [Array<Array(String, Array<Row>)>]
        def groups = @groups.transform_values { |ratios| ratios.map { |ratio| row(ratio) } }.to_a

        private

        def row(ratio)
          Row.new(name: ratio.name, title: ratio.title, style: "outcome-#{ratio.outcome || :not_shown}",
            facts: ratio.facts, marks: marks(ratio.estimate, ratio.other))
        end
      end
    end
  end
end
