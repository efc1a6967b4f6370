# frozen_string_literal: true

module PumaTuner
  module Lab
    # Variants of a block file held against each other, as `puma_tuner prove --block` does, with the lab's pinned gems.
    class BlockProof
      # rounds_count: six are the fewest whose interval reaches 95 %; duration_s: counted in each trial
      # warmup_limit_s: what is not steady then is measured all the same; busy_machine: see Prove::Proof
      Plan = Data.define(:rounds_count, :duration_s, :warmup_limit_s, :primary, :seed, :command, :busy_machine) do
        def initialize(primary: "cpu_per_iteration", **fields) = super
      end

      # @param file [String] the block file
      # @param variants [Hash{String => Hash{String => String}}] factors by name, the baseline first; see Prove::Factors
      # @param plan [Plan]
      # @param pins [Array<Gems::Pin>] of the lab, see Commands
      # @param kept [Prove::Journal] see Prove::Rounds
      def initialize(file, variants, plan, pins: [], kept: Prove::Rounds::Nothing)
        @pins = pins
        @file = file
        @variants = Prove::Declared.checked(variants.map { |name, factors| Prove::Variant.new(name:, factors:) })
        @plan = plan
        @kept = kept
      end

      # @return [Float] seconds it should take
      def expected_s = proof.expected_s

      # @yieldparam what [String] is about to run
      # @return [Prove::Verdict]
      # @raise [InvalidMeasurement] when it ended early: a claim rests on all of its rounds
      def call(&) = proof.call(&).ensure_complete

      private

      def proof = @proof ||= Prove::Proof.new(proof_plan, trial_runner:, kept: @kept)

      def proof_plan
        Prove::Proof::Plan.new(variants: @variants, metrics: Prove::Metric::BLOCK, primary: @plan.primary, looks: Prove::Looks.fixed(@plan.rounds_count),
          seed: @plan.seed, load: Prove::TrialLoad.of_block((@plan.duration_s * Units::NS_PER_S).round), allowed: allowed, command: @plan.command, busy_machine: @plan.busy_machine)
      end

      def allowed = (@variants.any? { |variant| Prove::Factors.gems(variant.factors).any? }) ? FOLLOWS_FROM_GEMS : []

      def trial_runner
        Prove::BlockRunner.new(file: @file, commands: Commands.new(folder: File.dirname(@file), variants: @variants, pins: @pins), warmup_limit_s: @plan.warmup_limit_s,
          duration_s: @plan.duration_s)
      end
    end
  end
end
