# frozen_string_literal: true

module PumaTuner
  module Predict
    # Runs a Plan by the core in C (ext/puma_tuner_sim), which lets go of the GVL while it runs.
    module Engine
      REMEDY = "To build it again: gem pristine puma_tuner; in a checkout, rake clobber compile."
      private_constant :REMEDY

      module_function

      # @param plan [Plan]
      # @param endpoints [Array<Integer>] those whose latencies are told apart, by index in the workload
      # @return [Outcome]
      # @raise [Deadlock]
      # @raise [UsageError] when the core is not there, or the plan is of more than it simulates, or of more steps than
      #   anybody waits for
      def call(plan, endpoints: [])
        ensure_available
        Outcome.of(Core.run(plan.to_h), endpoints:)
      end

      # @return [Hash{Symbol => Hash{Symbol => Integer}}] what the core calls things: by kind, then by name
      # @raise [UsageError] when the core is not there
      def codes
        ensure_available
        Core::CODES
      end

      # @raise [UsageError] when the core is not there
      def ensure_available
        raise UsageError, why_not if why_not
      end

      # @return [String, nil] why the core is not there
      def why_not
        return @why_not if defined?(@why_not)
        @why_not = load_core
      end

      def load_core
        begin
          require_relative "../native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner_sim"
        rescue LoadError
          require "puma_tuner_sim/puma_tuner_sim"
        end
        return if Core::CODES.fetch(:step).keys.map(&:name) == Probe::Parts::STEPS
        "nothing can be predicted, as the simulator's extension is of another version than puma_tuner-probe. #{REMEDY}"
      rescue LoadError => error
        "nothing can be predicted, as the simulator's extension is not there (#{error.message.lines.first.strip}). " \
          "It needs CRuby, and a compiler when the gem is installed. #{REMEDY}"
      end
      private_class_method :load_core
    end
  end
end
