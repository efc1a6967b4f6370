# frozen_string_literal: true

module PumaTuner
  module Prove
    # The numbers of rounds after which the primary metric may decide, fixed before the first.
    #
    # Whoever looks after every round and stops when it suits calls a difference where there is none several times as
    # often as promised (docs/measured/false_alarms.md). So the looks are few, and share the 5% among them, and among
    # the variants (Bonferroni): simple, and exact whatever the metric.
    #
    # rounds_counts: ascending
    Looks = Data.define(:rounds_counts) do
      # @param rounds_count [Integer]
      # @return [Looks] one, after all the rounds
      def self.fixed(rounds_count) = new(rounds_counts: [rounds_count])

      # @param variants_count [Integer] held against the baseline
      # @return [Looks] one, after eight rounds, or after one more than it takes to show anything of so many variants:
      #   the fewest show a difference only where all of them agree
      def self.usual(variants_count)
        fixed([self::USUAL_COUNT, fixed(1).least_rounds_count(variants_count) + 1].max)
      end

      # @param rounds_counts [Array<Integer>] such as 10, 20, 40
      # @return [Looks]
      # @raise [UsageError] unless they ascend
      def self.stepwise(rounds_counts)
        ascending = rounds_counts.any? && rounds_counts.first.positive? &&
          rounds_counts.each_cons(2).all? { |one, two| one < two }
        return new(rounds_counts:) if ascending
        raise UsageError, "--looks takes ascending numbers of rounds, such as 10,20,40; got " \
          "#{rounds_counts.empty? ? "none" : rounds_counts.join(",")}"
      end

      def initialize(rounds_counts:) = super(rounds_counts: rounds_counts.dup.freeze)

      # @return [Integer] rounds, unless it is decided before
      def rounds_max = rounds_counts.last

      # @return [Boolean] whether it may be decided before the last round
      def several? = rounds_counts.size > 1

      # @param rounds_count [Integer]
      # @return [Looks] of which none comes after so many rounds; to be asked before the first
      def at_most(rounds_count) = with(rounds_counts: rounds_counts.map { |count| [count, rounds_count].min }.uniq)

      # @param rounds_done [Integer]
      # @return [Boolean] whether it may be decided after so many rounds
      def at?(rounds_done) = rounds_counts.include?(rounds_done)

      # @param variants_count [Integer] held against the baseline
      # @return [Float] of each interval at each look, so that all together mislead 5 times in 100
      def level_ratio(variants_count = 1) = 1 - self.class::ERROR_RATIO / (rounds_counts.size * [variants_count, 1].max)

      # @param variants_count [Integer] held against the baseline
      # @return [Integer] the fewest rounds whose interval can have that level
      def least_rounds_count(variants_count = 1) = Stats::PairedRatio.least_pairs_count(level_ratio(variants_count))

      # @param ratio [Stats::Estimate, nil] at level_ratio
      # @param equivalent_ratio [Float] see Verdict
      # @return [Boolean] whether it says anything: a difference, or that there is none that matters
      def decided?(ratio, equivalent_ratio)
        return false unless ratio&.level_ratio
        !ratio.covers?(1) || Outcome.equivalent?(ratio, equivalent_ratio)
      end

      # @return [String] "10, 20, 40"
      def to_s = rounds_counts.join(", ")
    end

    class Looks
      # The probability of calling a difference where there is none.
      ERROR_RATIO = 0.05

      # Rounds where nobody says how many; of one variant, two more than the fewest that show anything.
      USUAL_COUNT = 8
    end
  end
end
