# frozen_string_literal: true

module PumaTuner
  module Advise
    # Asks every rule. The recommendation comes first, then the remarks.
    class Advisor
      RULES = %i[topology lock_bound long_bursts gc].freeze

      # Loading one file must register one rule; a rule that is not here would keep silent for ever.
      RULES.each do |name|
        require_relative "rules/#{name}"
        Rule.registered.key?(name) or raise InvariantError, "advise/rules/#{name}.rb registers no rule #{name}"
      end

      # @param constraints [Constraints]
      def initialize(constraints = Constraints.new)
        @constraints = constraints
      end

      # @param workload [Model::Workload]
      # @param sweep [Predict::Sweep]
      # @return [AdviceList]
      def call(workload, sweep)
        rules = RULES.map { |name| Rule.registered.fetch(name).new(@constraints) }
        AdviceList.new(advice: rules.flat_map { |rule| rule.call(workload, sweep) }.freeze, constraints: @constraints)
      end
    end
  end
end
