# frozen_string_literal: true

module PumaTuner
  module Prove
    # Measures how often this machine, with this app and load, makes a proof call a difference where there is none, by
    # proofs of the baseline against itself: each is made by the whole method, and short.
    class Calibration
      # The fewest that can reach 95%.
      ROUNDS_COUNT = 6

      # outcomes: of the primary metric, one for each proof; level_ratio: what the method promises
      Result = Data.define(:primary, :outcomes, :rounds_count, :level_ratio) do
        def differences_count = outcomes.count { |comparison| %i[better worse].include?(comparison.outcome) }

        def to_s
          "#{differences_count} of #{outcomes.size} proofs of equal variants called a difference in #{primary}; " \
            "at most #{((1 - level_ratio) * 100).round(1)} in 100 should, in the long run " \
            "(#{rounds_count} rounds each).\n#{outcomes.map { |comparison| line(comparison) }.join("\n")}"
        end

        private

        def line(comparison)
          ratio = comparison.ratio
          "  #{Units.times(ratio.value)} (#{Units.times(ratio.low)} to #{Units.times(ratio.high)}), " \
            "#{comparison.outcome.to_s.tr("_", " ")}"
        end
      end

      # @param setup [Setup] of what would be proven
      # @param proofs_count [Integer]
      def initialize(setup, proofs_count:)
        first = setup.variants.first
        # Proofs after another: so many rounds each, in an order of its own.
        @proofs = Array.new(proofs_count) do |index|
          setup.proof(variants: [first, first.with(name: "#{first.name} again")], looks: Looks.fixed(ROUNDS_COUNT),
            noise_rounds_count: 0, seed: index + 1)
        end
      end

      # @return [Float] seconds
      def expected_s = @proofs.sum(&:expected_s)

      # @yieldparam what [String] is about to run
      # @return [Result]
      def call
        verdicts = @proofs.each_with_index.map do |proof, index|
          yield("proof #{index + 1} of #{@proofs.size}") if block_given?
          proof.call
        end
        primary = verdicts.first.primary
        Result.new(primary:, rounds_count: ROUNDS_COUNT, level_ratio: verdicts.first.level_ratio,
          outcomes: verdicts.map { |verdict| verdict.comparisons.find { |comparison| comparison.metric == primary } })
      end
    end
  end
end
