# frozen_string_literal: true

module PumaTuner
  module Advise
    # Base of the rules. One rule to a file in rules/: above the class its evidence, threshold and the threshold's
    # source, predicted effect, cost and undo; PRIORITY is its place among all advice, the higher coming first. What it
    # says stands in report/advice_words/ under the same name, and beside it is a test of the same name.
    class Rule
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

      # @return [Statement]
      def say(kind, **facts) = Statement.of(kind, **facts)

      # "lock_bound" of Rules::LockBound.
      def rule_name = self.class.name[/\w+\z/].gsub(/(?<=[a-z])(?=[A-Z])/, "_").downcase
    end
  end
end
