# frozen_string_literal: true

module PumaTuner
  module Stats
    # How many pairs an interval of a wanted width takes, from the scatter of the first ones alone: Stein, "A two-sample
    # test for a linear hypothesis whose power is independent of the variance" (1945). The number rests on how far the
    # first pairs scatter and not on where they lie. Stein's own interval goes by the scatter of these alone; ours is of
    # all pairs, and a bit narrow where the first ones scatter little by chance: one of 95% leaves the truth out up to 6
    # times in 100, by simulation (see its test).
    #
    # Looking after every pair and stopping once the interval is narrow enough was rejected: such a stop comes early
    # where the scatter happens to be small, and the interval promises more than it holds.
    module PairsWanted
      # @param sd [Float] of one pair's log-ratio, see PairedRatio.sd
      # @param first_count [Integer] pairs that it was measured by, two at least
      # @param half_width_ratio [Float] above zero: 0.03 for an interval of 3% either way
      # @param level_ratio [Float] of the interval, 0..1
      # @return [Integer] in all, the first ones included
      def self.of(sd:, first_count:, half_width_ratio:, level_ratio:)
        quantile = StudentT.quantile((1 + level_ratio) / 2, first_count - 1)
        [first_count, (quantile * sd / Math.log(1 + half_width_ratio))**2].max.ceil
      end
    end
  end
end
