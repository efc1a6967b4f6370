# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # Base of the changes: what an expression does to a workload and a machine.
      class Change
        # Operators that it understands, and one expression as an example of each.
        EXAMPLES = {}.freeze

        # Tells whether it can be about some endpoints only.
        SELECTS = false

        # The least that a factor may be; nothing is ever infinitely fast.
        LEAST_FACTOR = 1e-6

        # @param expression [Expression]
        # @raise [UsageError] when it can't be understood
        def initialize(expression)
          @expression = expression
          check
          prepare
        end

        # @param workload [Model::Workload]
        # @param machine [Model::Machine]
        # @return [Array(Model::Workload, Model::Machine)] changed
        def call(workload, machine) = raise(InvariantError, "#{self.class} does not say what it changes")

        # @return [String, nil] what it assumes beyond what it says
        def remark = nil

        private

        def operator = @expression.operator

        def target = @expression.target

        def check
          examples = self.class::EXAMPLES
          unless examples.key?(operator)
            @expression.refuse("#{target} is changed by #{examples.keys.join(" or ")}, " \
              "such as #{target}#{examples.values.join(" or #{target}")}")
          end
          if @expression.selector && !self.class::SELECTS
            @expression.refuse("#{target} is no endpoint's own; leave out (#{@expression.selector})")
          end
        end

        # Reads the operand, so that a mistake is told before anything is done.
        def prepare = nil
      end
    end
  end
end
