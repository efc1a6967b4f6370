# frozen_string_literal: true

module PumaTuner
  module Advise
    # Base of the rules. One rule to a file in rules/: above the class its evidence, threshold and the threshold's source,
    # predicted effect, cost and undo; on the last line of the class its registration; beside it a test of the same name.
    # The advisor loads the files it lists, in that order.
    class Rule
      @registered = {}

      class << self
        # @return [Hash{Symbol => Class}] kept by Rule itself, not by its subclasses
        attr_reader :registered

        # @param name [Symbol] of the file
        def register(name, rule_class) = Rule.registered[name] = rule_class
      end

      # @param constraints [Constraints]
      def initialize(constraints)
        @constraints = constraints
      end

      # @param workload [Model::Workload]
      # @param sweep [Predict::Sweep]
      # @return [Array<Advice>] empty when there is nothing to say
      def call(workload, sweep) = raise(InvariantError, "#{self.class} does not say what it advises")

      private

      # @return [Advice] without a prediction
      def remark(**fields)
        Advice.new(rule: rule_name, topology: nil, throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil, **fields)
      end

      def rule_name = Rule.registered.key(self.class).to_s
    end
  end
end
