# frozen_string_literal: true

module PumaTuner
  module Stats
    # The smallest change that a number of pairs detects with 80% power, known before they are measured.
    #
    # It is as far from 1, in standard errors, as the interval reaches and once more
    # by the t value of 0.8 (Bloom, "Minimum detectable effects", 1995). The level put in is the one that the
    # signed-rank interval reaches with so many pairs. Where that takes all pairs on one side, as with six at 95%, the
    # effect must be so large that they are, 8 times in 10.
    #
    # Compared with the interval itself, on simulated normal differences, it is seen 74 to 80 times in 100 with 6 to 40
    # pairs.
    module MinimumDetectableEffect
      POWER_RATIO = 0.8

      # Up to here the level reached is not yet the level wanted.
      EXACT_PAIRS_MAX = 60

      PAIRS_MAX = 1_000

      class << self
        # @param sd [Float, nil] of one pair's log-ratio, see PairedRatio.sd
        # @param pairs_count [Integer]
        # @param level_ratio [Float] of the interval that is to exclude 1
        # @return [Float, nil] the change, 0.03 for 3% more; nil when so few pairs can't show any
        def of(sd:, pairs_count:, level_ratio:)
          distance = sd && distance(pairs_count, level_ratio) or return
          Math.exp(distance * sd) - 1
        end

        # The other way round.
        #
        # @param change_ratio [Float] above zero, 0.03 for 3% more
        # @return [Integer, nil] the pairs needed; nil when they are more than PAIRS_MAX
        def pairs_count(sd:, change_ratio:, level_ratio:)
          wanted = Math.log(1 + change_ratio)
          enough = ->(count) { distance(count, level_ratio)&.then { |distance| distance * sd <= wanted } }
          (2..EXACT_PAIRS_MAX).find(&enough) || (EXACT_PAIRS_MAX.next..PAIRS_MAX).bsearch(&enough)
        end

        private

        # Returns the distance in standard deviations of one pair.
        def distance(pairs_count, level_ratio)
          rank, reached = rank_and_level(pairs_count, level_ratio)
          return unless reached
          freedom = pairs_count - 1
          quantiles = StudentT.quantile((1 + reached) / 2, freedom) + StudentT.quantile(POWER_RATIO, freedom)
          by_t = quantiles / Math.sqrt(pairs_count)
          (rank == 1) ? [by_t, StudentT.quantile(POWER_RATIO**(1.0 / pairs_count), Float::INFINITY)].max : by_t
        end

        def rank_and_level(pairs_count, level_ratio)
          (pairs_count > EXACT_PAIRS_MAX) ? [nil, level_ratio] : PairedRatio.rank_and_level(pairs_count, level_ratio)
        end
      end
    end
  end
end
