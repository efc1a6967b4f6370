# frozen_string_literal: true

module PumaTuner
  module Advise
    # Asks every rule. The recommendation comes first, then the remarks.
    class Advisor
      # @param constraints [Constraints]
      def initialize(constraints = Constraints.new)
        @constraints = constraints
      end

      # @param workload [Model::Workload]
      # @param sweep [Predict::Sweep]
      # @return [AdviceList]
      def call(workload, sweep)
        rules = Rules.all.map { |rule| rule.new(@constraints) }
        AdviceList.new(advice: rules.flat_map { |rule| rule.call(workload, sweep) }.freeze, constraints: @constraints)
      end
    end
  end
end
