# frozen_string_literal: true

module PumaTuner
  module Predict
    # Runs a Plan: by the core in C (ext/puma_tuner_sim), which lets go of the GVL while it runs, or by its twin in Ruby, which
    # takes the very same steps some hundred times slower.
    module Engine
      module_function

      # @param plan [Plan]
      # @return [Outcome]
      # @raise [Deadlock]
      def call(plan) = Outcome.of(native? ? Core.run(plan.to_h) : Reference::Simulation.new(plan.to_h).call)

      # @return [Boolean] whether the core is there
      def native?
        return @native if defined?(@native)
        @native = load_core
      end

      def load_core
        begin
          require_relative "../native/#{RUBY_VERSION[/\A\d+\.\d+/]}/puma_tuner_sim"
        rescue LoadError
          require "puma_tuner_sim/puma_tuner_sim"
        end
        true
      rescue LoadError
        false
      end
    end
  end
end
