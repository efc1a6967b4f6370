# frozen_string_literal: true

module PumaTuner
  module Stats
    # Estimates by how much one thing is larger than another, from pairs measured side by side.
    #
    # The pairs' log-ratios are taken as independent and symmetric about the true value. The point is the median of
    # their Walsh averages (the means of all pairs of log-ratios, each with itself included), after Hodges and Lehmann,
    # "Estimates of location based on rank tests" (1963). The interval inverts Wilcoxon's signed-rank test, by the exact
    # distribution of its statistic: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", chapter 3.
    #
    # Two methods were rejected: the percentile bootstrap, which at 6 and 10 pairs leaves the truth out 14 and 11 times
    # in 100 where 5 are promised; and Student's t, whose interval one disturbed pair can blow up.
    module PairedRatio
      # A log-ratio's last digits are rounding. Without them, equal values differ by nothing, and equal ratios are ties.
      LOG_DIGITS = 12

      # @param baseline_values [Array<Numeric>] above zero, any unit
      # @param variant_values [Array<Numeric>] above zero, same unit, same order
      # @param level_ratio [Float] the coverage wanted, 0..1
      # @return [Estimate] of variant over baseline. Its level_ratio is what was reached, which is at least what was
      #   wanted; or nil when so few pairs cannot reach it (95% needs six), and the interval is the range of the
      #   averages
      def self.of(baseline_values, variant_values, level_ratio: 0.95)
        averages = walsh_averages(log_ratios(baseline_values, variant_values))
        rank, reached = rank_and_level(baseline_values.size, level_ratio)
        value, low, high = [Quantile.of(averages, 0.5), averages[rank - 1], averages[-rank]].map { |log| Math.exp(log) }
        Estimate.new(value:, low:, high:, level_ratio: reached, samples_count: baseline_values.size)
      end

      # The p-value is that of the test that the interval inverts: without ties, it is at most 0.05 exactly when the
      # interval of 95% excludes 1.
      #
      # @return [Float] two-sided, of the pairs being equal but for chance
      def self.p_value(baseline_values, variant_values)
        SignedRank.p_value(log_ratios(baseline_values, variant_values).map { |log| log.round(LOG_DIGITS) })
      end

      # Measures how far pairs scatter: the standard deviation of the normal distribution for which Student's interval
      # would be as wide as this one, after Lehmann, "Nonparametric confidence intervals for a shift parameter" (1963).
      #
      # So a few spikes count as much as they widen the interval, which is what it is for: MinimumDetectableEffect. Two
      # estimators were rejected: the plain standard deviation, by which, with spikes in 8 of 100 trials, 20 pairs
      # "need" 1.5 times the effect that they see 8 times in 10; and Rousseeuw and Croux's Qn, by which 10 such pairs
      # "see" an effect that they miss 4 times in 10.
      #
      # @return [Float, nil] of one pair's log-ratio; nil of fewer than two pairs
      def self.sd(baseline_values, variant_values, level_ratio: 0.95)
        count = baseline_values.size
        return if count < 2
        averages = walsh_averages(log_ratios(baseline_values, variant_values))
        rank, reached = rank_and_level(count, level_ratio)
        half = (averages[-rank] - averages[rank - 1]) / 2
        half * Math.sqrt(count) / StudentT.quantile((1 + (reached || 1 - 2.0 / 2**count)) / 2, count - 1)
      end

      # @return [Array<Float>] of each pair
      def self.log_ratios(baseline_values, variant_values)
        sizes = [baseline_values.size, variant_values.size]
        if sizes.uniq.size > 1 || sizes.include?(0)
          raise ArgumentError, "pairs are needed, got #{sizes.join(" and ")} values"
        end
        baseline_values.zip(variant_values).map do |baseline, variant|
          unless baseline.positive? && variant.positive?
            raise ArgumentError, "ratios need values above zero, got #{baseline} and #{variant}"
          end
          Math.log(variant.fdiv(baseline))
        end
      end

      # Returns where an interval of n pairs begins and ends among its sorted Walsh averages.
      #
      # @param pairs_count [Integer] 1 or more
      # @param level_ratio [Float] 0..1
      # @return [Array(Integer, Float)] the rank counted from either end, the highest that keeps the level, and the
      #   exact coverage; [1, nil] when even the outermost averages do not cover enough
      def self.rank_and_level(pairs_count, level_ratio)
        # Every metric asks for it again, and at 200 pairs the distribution takes a moment.
        (@ranks_and_levels ||= {})[[pairs_count, level_ratio]] ||= find_rank_and_level(pairs_count, level_ratio).freeze
      end

      # @param level_ratio [Float] 0..1
      # @return [Integer] the fewest pairs whose interval can reach that level
      def self.least_pairs_count(level_ratio) = (1..).find { |count| rank_and_level(count, level_ratio).last }

      class << self
        private

        def find_rank_and_level(pairs_count, level_ratio)
          outcomes_count = 2**pairs_count
          outside_count = rank = 0
          signed_rank_counts(pairs_count).each do |count|
            break if 1 - 2.0 * (outside_count + count) / outcomes_count < level_ratio
            outside_count += count
            rank += 1
          end
          return [1, nil] if rank.zero?
          [rank, 1 - 2.0 * outside_count / outcomes_count]
        end

        def walsh_averages(values)
          values.each_with_index.flat_map { |value, index| values[index..].map { |other| (value + other) / 2 } }.sort
        end

        # Counts in how many of the 2**n sign patterns the ranks 1..n with a plus sum to 0, 1, 2, …
        def signed_rank_counts(pairs_count)
          (1..pairs_count).inject([1]) do |counts, rank|
            longer = counts + [0] * rank
            counts.each_with_index { |count, sum| longer[sum + rank] += count }
            longer
          end
        end
      end
    end
  end
end
