# frozen_string_literal: true

module PumaTuner
  module Prove
    # Measures how often this machine, with this app and load, makes a proof call a difference where there is none, by
    # proofs of the baseline against itself: each is made by the whole method, and short.
    class Calibration
      # The fewest that can reach 95%.
      ROUNDS_COUNT = 6

      # outcomes: of the primary metric, one for each proof that had all its rounds
      # level_ratio: what the method promises
      # incomplete_count: proofs that had not all their rounds, and tell nothing
      Result = Data.define(:primary, :outcomes, :incomplete_count, :rounds_count, :level_ratio) do
        def differences_count = outcomes.count { |comparison| %i[better worse].include?(comparison.outcome) }

        def to_s
          "#{differences_count} of #{outcomes.size} proofs of equal variants called a difference in #{primary}; " \
            "at most #{((1 - level_ratio) * 100).round(1)} in 100 should, in the long run " \
            "(#{rounds_count} rounds each).#{incomplete}\n#{outcomes.map { |comparison| line(comparison) }.join("\n")}"
        end

        private

        def incomplete
          return if incomplete_count.zero?
          " #{Units.counted(incomplete_count, "proof")} more ended early and told nothing."
        end

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
      # @raise [InvalidMeasurement] at the first proof that can't compare the primary metric, or when no proof had all
      #   its rounds
      def call
        verdicts = @proofs.each_with_index.map do |proof, index|
          yield("proof #{index + 1} of #{@proofs.size}") if block_given?
          proof.call.tap { |verdict| ensure_compared(verdict) }
        end
        complete = verdicts.select(&:complete)
        if complete.empty?
          raise InvalidMeasurement, "none of #{Units.counted(@proofs.size, "proof")} had all its rounds, so that " \
            "nothing is known of false alarms. A prove without --false-alarms says why it ends early."
        end
        Result.new(primary: complete.first.primary, rounds_count: ROUNDS_COUNT, level_ratio: complete.first.level_ratio,
          outcomes: complete.map { |verdict| compared(verdict) }, incomplete_count: verdicts.size - complete.size)
      end

      private

      def compared(verdict) = verdict.comparisons.find { |comparison| comparison.metric == verdict.primary }

      def ensure_compared(verdict)
        return if !verdict.complete || compared(verdict)
        metric = verdict.metrics.find { |one| one.name == verdict.primary }
        least_count = metric.least_requests_count
        longer = " It takes #{least_count} requests in each trial: give it longer --duration." if least_count > 1
        raise InvalidMeasurement, "#{metric.label} can't be compared here.#{longer} Or choose another --primary."
      end
    end
  end
end
