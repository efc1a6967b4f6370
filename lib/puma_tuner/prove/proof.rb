# frozen_string_literal: true

require "time"

module PumaTuner
  module Prove
    # The whole proof: variants made ready and looked at, the noise of two equal ones, the rounds, the verdict.
    class Proof
      # What was decided before the first round.
      #
      # variants: the first is the baseline; primary: name of the metric that decides; looks: Looks
      # noise_rounds_count: A/A pairs beforehand; equivalent_ratio: see Verdict; expectations: Expectations
      # allowed: what may differ though undeclared, see Difference; bodies_may_differ: answers need not be of equal length
      Plan = Data.define(:variants, :metrics, :primary, :looks, :noise_rounds_count, :equivalent_ratio, :expectations, :allowed,
        :bodies_may_differ, :seed, :load, :command) do
        def initialize(metrics: Metric::SERVED, primary: "throughput", noise_rounds_count: 0, equivalent_ratio: 0.02,
          expectations: Expectations.parse([]), allowed: [], bodies_may_differ: false, command: nil, **fields)
          super
        end
      end

      # @param plan [Plan]
      # @param trial_runner [#call, #look, #outcomes, #expected_s]
      # @param kept [Journal]
      def initialize(plan, trial_runner:, kept: Rounds::Nothing)
        @plan = plan
        @trial_runner = trial_runner
        @kept = kept
        @rounds = Rounds.new(variants: plan.variants, looks: plan.looks, trial_runner:, random: Random.new(plan.seed), kept:,
          decided: ->(trials) { decided(trials) }, law: ->(attempt) { unlike(attempt) })
      end

      # @return [Float] seconds it should take
      def expected_s
        @rounds.expected_s + @plan.noise_rounds_count * 2 * @trial_runner.expected_s + @plan.variants.size * TrialRunner::BOOT_S
      end

      # @yieldparam what [String] is about to run
      # @return [Verdict]
      def call(&progress)
        started_at = Time.now.utc.iso8601
        machine = Host::MachineFacts.read
        look_at_variants(&progress)
        noise = measure_noise(&progress)
        trials = @rounds.call(&progress)
        verdict = judge(trials).call(noise:, load: @plan.load, seed: @plan.seed, machine:, started_at:, command: @plan.command,
          stopped_because: @rounds.stopped_because, expectations: [])
        verdict.with(expectations: @plan.expectations.judge(verdict))
      end

      private

      def judge(trials)
        Judge.new(variants: @plan.variants, trials:, metrics: @plan.metrics, primary: @plan.primary, looks: @plan.looks, equivalent_ratio: @plan.equivalent_ratio)
      end

      def decided(trials) = ("the primary metric was decided" if judge(trials).primary_decided?)

      # Minutes of rounds are for variants that start, answer alike, and differ in what was declared.
      def look_at_variants
        return unless @trial_runner.respond_to?(:look)
        looked = @plan.variants.to_h do |variant|
          yield("a look at #{variant.name}") if block_given?
          [variant, looked_at(variant)]
        end
        Difference.new(@plan.variants.first, looked.transform_values(&:first), allowed: @plan.allowed).insist
        insist_on_equal_bodies(looked.to_h { |variant, (_, outcome)| [variant.name, outcome] })
      end

      def looked_at(variant)
        Named.by(variant) { @trial_runner.look(variant).tap { |_, outcome| outcome.insist_on_expected_answers } }
      end

      def insist_on_equal_bodies(outcomes)
        reason = Laws.unequal_bodies(outcomes) unless @plan.bodies_may_differ
        raise VoidMeasurement, "#{reason}. What does not answer the same can't be compared; if it is meant, --bodies-may-differ." if reason
      end

      # A round whose variants did not answer alike is void. Where nobody could look beforehand, as at a block, the first
      # round tells what ran.
      def unlike(attempt)
        return insist_on_declared(attempt) unless @trial_runner.respond_to?(:look)
        # Not of the noise before: what an app answers may grow with time.
        Laws.unequal_bodies(@trial_runner.outcomes.slice(*@plan.variants.map(&:name))) unless @plan.bodies_may_differ
      end

      def insist_on_declared(attempt)
        return if @declared
        fingerprints = @plan.variants.to_h { |variant| [variant, attempt.find { |trial| trial.variant == variant.name }.fingerprint] }
        Difference.new(@plan.variants.first, fingerprints, allowed: @plan.allowed).insist
        @declared = true
        nil
      end

      def measure_noise(&progress)
        return [] if @plan.noise_rounds_count.zero?
        NoiseFloor.new(@plan.variants.first, trial_runner: @trial_runner, metrics: @plan.metrics, rounds_count: @plan.noise_rounds_count,
          planned_rounds_count: @plan.looks.rounds_max, level_ratio: @plan.looks.level_ratio(@plan.variants.size - 1), seed: @plan.seed).call(&progress)
      end
    end
  end
end
