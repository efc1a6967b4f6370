# frozen_string_literal: true

module PumaTuner
  module Prove
    # Decides what may be said of a ratio, by its interval.
    module Outcome
      # @param ratio [Stats::Estimate] without a level (too few pairs) it says nothing
      # @param more_is_better [Boolean] see Metric
      # @param equivalent_ratio [Float] see Verdict; a difference that small is no news, even when it is certain
      # @return [Symbol] :better, :worse, :equivalent or :not_shown
      def self.of(ratio, more_is_better:, equivalent_ratio:)
        return :not_shown unless ratio.level_ratio
        return :equivalent if equivalent?(ratio, equivalent_ratio)
        return :not_shown if ratio.covers?(1)
        ((ratio.low > 1) == more_is_better) ? :better : :worse
      end

      # @return [Boolean] whether the whole interval lies inside 1 ± equivalent_ratio
      def self.equivalent?(ratio, equivalent_ratio)
        ratio.low >= 1 - equivalent_ratio && ratio.high <= 1 + equivalent_ratio
      end
    end
  end
end
