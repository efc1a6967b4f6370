# frozen_string_literal: true

module PumaTuner
  module Advise
    # Asks every rule. The recommendation comes first, after what has to be done before it; then the remarks.
    class Advisor
      # @param constraints [Constraints]
      def initialize(constraints = Constraints.new)
        @constraints = constraints
      end

      # @param workload [Model::Workload]
      # @param sweep [Predict::Sweep]
      # @param facts [Hash] observation and sweeper, where they are there, see Situation
      # @return [AdviceList]
      def call(workload, sweep, **facts)
        situation = Situation.new(workload, sweep, constraints: @constraints, **facts)
        rules = Rules.all.map { |rule| rule.new(situation) }.sort_by { |rule| -rule.priority }
        AdviceList.new(advice: rules.flat_map(&:call).freeze, constraints: @constraints,
          tail: TailSearch.new(situation).call, today: sweep.today)
      end
    end
  end
end
