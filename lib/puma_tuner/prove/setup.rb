# frozen_string_literal: true

module PumaTuner
  module Prove
    # A proof as it is set up: what is compared and how it is judged, and what runs its trials. `prove`, `tune`,
    # `advise --prove`, `tradeoff` and the labs all come by their proofs here.
    class Setup
      class << self
        # Variants of an app that is served.
        #
        # @param variants [Array<Variant>] the baseline first
        # @param preparation [#call] Variant -> Preparation::Ready
        # @param traffic [Load::Traffic] the same for all
        # @param times [TrialRunner::Times]
        # @param placement [Host::Placement] which cores are the servers'
        # @param beside [Array<String>] names of metrics that somebody goes by beside the one that decides
        # @param rules [Hash{Symbol => Object}] the other fields of Proof::Plan: `looks` and `seed` at least
        # @return [Setup]
        # @raise [UsageError] when two variants have one name, or one has a factor that nobody knows
        def served(variants, preparation:, traffic:, times:, placement: Host::Placement.none, beside: [], **rules)
          load = TrialLoad.of_traffic(traffic, duration_s: times.duration_s)
          plan = Proof::Plan.new(variants: VariantParser.checked(variants), load:, **rules)
          new(plan) do
            TrialRunner.new(preparation:, traffic:, times:, placement:, metrics: Metric::SERVED | plan.metrics,
              decisive: [plan.primary, *plan.expectations.metrics, *beside])
          end
        end

        # Variants of a block of Ruby, each in a process of its own.
        #
        # @param variants [Array<Variant>] the baseline first
        # @param file [String] see Block::UserFile
        # @param commands [#call] Variant -> Host::Command that ends in a Ruby
        # @param limits [Hash{Symbol => Numeric}] `duration_s`, `warmup_limit_s` and perhaps `boot_limit_s`, see
        #   BlockRunner
        # @param rules [Hash{Symbol => Object}] as above
        # @return [Setup]
        # @raise [UsageError] as above
        def block(variants, file:, commands:, limits:, **rules)
          load = TrialLoad.of_block(duration_s: limits.fetch(:duration_s))
          new(Proof::Plan.new(variants: VariantParser.checked(variants), metrics: Metric::BLOCK, load:, **rules)) do
            BlockRunner.new(file:, commands:, **limits)
          end
        end
      end

      # @return [Proof::Plan]
      attr_reader :plan

      # @param plan [Proof::Plan]
      # @yieldreturn [#call, #together] what runs trials, see Proof: another one for each proof
      def initialize(plan, &trial_runner)
        @plan = plan
        @trial_runner = trial_runner
      end

      # @return [Array<Variant>] the baseline first
      def variants = plan.variants

      # @param kept [Journal] where rounds are kept as they are made
      # @param changes [Hash{Symbol => Object}] fields of the plan that are others in this proof
      # @return [Proof]
      def proof(kept: Rounds::Nothing, **changes)
        Proof.new(plan.with(**changes), trial_runner: @trial_runner.call, kept:)
      end
    end
  end
end
