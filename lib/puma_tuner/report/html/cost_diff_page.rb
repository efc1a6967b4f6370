# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The page of two profiles held against each other.
      class CostDiffPage < Page
        ROWS_MAX = 150

        # @return [Profile::CostDiff]
        def diff = @value

        # @return [String]
        def content_html = cost_diff_html

        # @return [String]
        def title = "What got cheaper, and what dearer"

        # @return [CostDiffFigures]
        def figures = @figures ||= CostDiffFigures.new(diff)
      end
    end
  end
end
