# frozen_string_literal: true

module PumaTuner
  module Lab
    # A lab's proofs, set up as `prove` sets up its own, but with the lab's pinned gems.
    module Proofs
      # What differs from lab to lab, where a lab does not say otherwise.
      OF_BLOCKS = {primary: "cpu_per_iteration"}.freeze

      # warmup_window_s, turns_count, probe_s: see Prove::TrialRunner::Times
      # allowed: what may differ besides, see Prove::DeclarationCheck
      SERVED = {primary: "cpu_per_request", warmup_window_s: 0.7, turns_count: 8, probe_s: 1.0, allowed: []}.freeze

      # Labs make claims of these, too, whatever decides.
      CLAIMED = %w[throughput p99].freeze

      # In a fingerprint: what versions of gems, and of what they need, bring with them. Nobody has to declare that.
      FOLLOWS_FROM_GEMS = [[:gem, nil], [:extension, nil]].freeze

      class << self
        # @param file [String] path of the block file
        # @param variants [Hash{String => Hash{String => String}}] factors by
        #   name, the baseline first; see Prove::Factors
        # @param pins [Array<Gems::Pin>] of the lab, see Commands
        # @param sources [Array<Source>] likewise
        # @param rounds_count [Integer] six are the fewest whose interval reaches 95%
        # @param duration_s [Numeric] counted in each trial
        # @param warmup_limit_s [Numeric] what is not steady then is measured all the same
        # @param rules [Hash{Symbol => Object}] further fields of Prove::Proof::Plan
        # @return [Prove::Setup]
        def of_blocks(file, variants, pins:, rounds_count:, duration_s:, warmup_limit_s:, sources: [], **rules)
          variants = named(variants)
          allowed = (variants.any? { |variant| Prove::Factors.gems(variant.factors).any? }) ? FOLLOWS_FROM_GEMS : []
          commands = Commands.new(folder: File.dirname(file), variants:, pins:, sources:)
          Prove::Setup.block(variants, file:, commands:,
            limits: {duration_s:, warmup_limit_s:}, looks: Prove::Looks.fixed(rounds_count), allowed:, **rules)
        end

        # @param variants [Hash{String => Hash{String => String}}] as above; each names its `gemfile`
        # @param traffic [Load::Traffic, #send_to] the same for all
        # @param folder [String] of the lab
        # @param out [#call] see ServedCommands
        # @param allowed [Array<Array(Symbol, String)>] what may differ besides, see Prove::DeclarationCheck
        # @return [Prove::Setup]
        def served(variants, traffic:, folder:, out:, rounds_count:, duration_s:, warmup_limit_s:, warmup_window_s:,
          turns_count:, probe_s:, allowed:, **rules)
          variants = named(variants)
          times = Prove::TrialRunner::Times.new(warmup_window_s:, warmup_limit_s:, duration_s:, turns_count:, probe_s:,
            boot_limit_s: ServedCommands::BOOT_LIMIT_S)
          Prove::Setup.served(variants, preparation: ServedCommands.new(folder:, variants:, out:), traffic:, times:,
            looks: Prove::Looks.fixed(rounds_count), allowed: FOLLOWS_FROM_GEMS + allowed, beside: CLAIMED, **rules)
        end

        private

        def named(variants) = variants.map { |name, factors| Prove::Variant.new(name:, factors:) }
      end
    end
  end
end
