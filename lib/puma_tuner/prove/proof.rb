# frozen_string_literal: true

module PumaTuner
  module Prove
    # The whole proof: rounds of trials, and the verdict on them.
    class Proof
      # @param variants [Array<Variant>] the first is the baseline
      # @param traffic [Load::Traffic]
      # @param duration_s [Numeric] of the load in each trial
      # @param seed [Integer] of the order in which variants run
      def initialize(variants:, command:, traffic:, rounds_count:, warmup_s:, duration_s:, boot_limit_s:, seed:)
        @variants = variants
        @traffic = traffic
        @duration_s = duration_s
        @seed = seed
        runner = TrialRunner.new(command:, traffic:, warmup_s:, duration_s:, boot_limit_s:)
        @rounds = Rounds.new(variants:, rounds_count:, trial_runner: runner, random: Random.new(seed))
      end

      # @return [Float] seconds it should take
      def expected_s = @rounds.expected_s

      # @yieldparam what [String] is about to run
      # @return [Verdict]
      def call(&progress)
        trials = @rounds.call(&progress)
        Judge.new(variants: @variants, trials:).call(generator: @traffic.generator_name, seed: @seed,
          duration_ns: (@duration_s * Units::NS_PER_S).round, connections_count: @traffic.connections_count)
      end
    end
  end
end
