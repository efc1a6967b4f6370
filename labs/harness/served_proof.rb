# frozen_string_literal: true

module PumaTuner
  module Lab
    # Variants of a served app held against each other, as `puma_tuner prove` does, with the lab's pinned gems.
    class ServedProof
      # rounds_count: six are the fewest whose interval reaches 95 %; duration_s: counted in each trial
      # warmup_window_s, warmup_limit_s: what is not steady then is measured all the same; turns_count: see Prove::TrialRunner
      # probe_s: of load with the probe, for the budget, 0 for none; allowed: what may differ besides, see Prove::Difference
      Plan = Data.define(:rounds_count, :duration_s, :warmup_limit_s, :warmup_window_s, :turns_count, :probe_s, :primary, :allowed, :seed, :command, :busy_machine) do
        def initialize(warmup_window_s: 0.7, turns_count: 8, probe_s: 1.0, primary: "cpu_per_request", allowed: [], seed: 1, command: nil, busy_machine: false, **fields)
          super
        end
      end

      BOOT_LIMIT_S = 90

      # @param variants [Hash{String => Hash{String => String}}] factors by name, the baseline first; each names its `gemfile`
      # @param traffic [Load::Traffic, #send_to] the same for all
      # @param plan [Plan]
      # @param folder [String] of the lab
      # @param out [#call] see ServedCommands
      # @param kept [Prove::Journal] see Prove::Rounds
      def initialize(variants, traffic:, plan:, folder:, out:, kept: Prove::Rounds::Nothing)
        @variants = Prove::Declared.checked(variants.map { |name, factors| Prove::Variant.new(name:, factors:) })
        @traffic = traffic
        @plan = plan
        @kept = kept
        @commands = ServedCommands.new(folder:, variants: @variants, out:)
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
        Prove::Proof::Plan.new(variants: @variants, primary: @plan.primary, looks: Prove::Looks.fixed(@plan.rounds_count), seed: @plan.seed, load:,
          allowed: FOLLOWS_FROM_GEMS + @plan.allowed, command: @plan.command, busy_machine: @plan.busy_machine)
      end

      def load
        Prove::TrialLoad.new(generator: @traffic.generator_name, connections_count: @traffic.connections_count, arrivals: @traffic.arrivals.to_s,
          duration_ns: (@plan.duration_s * Units::NS_PER_S).round)
      end

      def trial_runner
        times = Prove::TrialRunner::Times.new(boot_limit_s: BOOT_LIMIT_S, **@plan.to_h.slice(:warmup_window_s, :warmup_limit_s, :duration_s, :turns_count, :probe_s))
        Prove::TrialRunner.new(preparation: @commands, traffic: @traffic, times:, probe: Measure::LateWindow)
      end
    end
  end
end
