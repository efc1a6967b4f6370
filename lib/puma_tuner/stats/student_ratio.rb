# frozen_string_literal: true

module PumaTuner
  module Stats
    # Estimates by how much one thing is larger than another, by the mean of the pairs' log-ratios and Student's t ("The
    # probable error of a mean", 1908). It is a second opinion beside PairedRatio: where the two disagree, single pairs
    # lie far off.
    module StudentRatio
      # An interval that reaches from a millionth to a million times as much tells nothing, and of two pairs that are
      # far apart it may reach further than documents have numbers.
      REACH_FACTOR = 1_000_000

      # @param baseline_values [Array<Numeric>] above zero, any unit
      # @param variant_values [Array<Numeric>] above zero, same unit, same order
      # @param level_ratio [Float] the interval's coverage, 0..1
      # @return [Estimate, nil] of variant over baseline: the geometric mean of the ratios; nil of fewer than two pairs,
      #   and of two or three that tell nothing
      def self.of(baseline_values, variant_values, level_ratio: 0.95)
        logs = PairedRatio.log_ratios(baseline_values, variant_values)
        count = logs.size
        return if count < 2
        mean = logs.sum / count
        sd = Math.sqrt(logs.sum { |log| (log - mean)**2 } / (count - 1))
        half = StudentT.quantile((1 + level_ratio) / 2, count - 1) * sd / Math.sqrt(count)
        return if half > Math.log(REACH_FACTOR)
        value, low, high = [mean, mean - half, mean + half].map { |log| Math.exp(log) }
        Estimate.new(value:, low:, high:, level_ratio:, samples_count: count)
      end
    end
  end
end
