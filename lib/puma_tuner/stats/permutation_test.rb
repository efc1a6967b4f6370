# frozen_string_literal: true

module PumaTuner
  module Stats
    # Tests whether two groups differ, by a statistic of any kind, from pairs (their blocks of the same time): if they
    # don't, which of a pair belongs to which group means nothing, and all ways to swap are equally likely (Fisher's
    # randomisation test; Good, "Permutation, Parametric and Bootstrap Tests of Hypotheses", 3.2).
    module PermutationTest
      # Up to so many pairs, all ways are tried; beyond, as many at random.
      EXACT_PAIRS_MAX = 12
      TRIALS_COUNT = 1 << EXACT_PAIRS_MAX

      # @param pairs_count [Integer]
      # @param random [Random]
      # @yieldparam swapped [Array<Boolean>] by pair
      # @yieldreturn [Float] the statistic, larger the more they differ
      # @return [Float] one-sided: how often chance alone reaches what was seen, which counts, too
      def self.p_value(pairs_count, random:)
        seen = yield(Array.new(pairs_count, false))
        all = swaps(pairs_count, random).map { |swapped| yield(swapped) }
        # Equal but for rounding is equal.
        reached_count = all.count { |value| value >= seen - 1e-12 }
        (pairs_count <= EXACT_PAIRS_MAX) ? reached_count.fdiv(all.size) : (reached_count + 1).fdiv(all.size + 1)
      end

      def self.swaps(pairs_count, random)
        if pairs_count <= EXACT_PAIRS_MAX
          return (0...(1 << pairs_count)).map { |bits| Array.new(pairs_count) { |place| bits[place] == 1 } }
        end
        Array.new(TRIALS_COUNT) { Array.new(pairs_count) { random.rand(2) == 1 } }
      end
      private_class_method :swaps
    end
  end
end
