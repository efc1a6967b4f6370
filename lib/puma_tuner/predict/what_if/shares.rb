# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # `mix(/articles)=0.5`: the share of all requests that go to some endpoints. Several at once each say theirs; all
      # others keep their proportions in what is left.
      class Mix < Change
        # @param expressions [Array<Expression>]
        def initialize(expressions)
          @expressions = expressions
          @shares = expressions.map { |expression| share(expression) }
          last = expressions.last
          if @shares.sum > 1 + 1e-9
            last.refuse("the shares sum up to #{Units.significant(@shares.sum)}, and there is only 1")
          end
        end

        def call(workload, machine)
          groups = @expressions.map { |expression| Selection.of(expression, workload.endpoints) }
          named = groups.flatten.map(&:name)
          ensure_named_once(named)
          others = workload.endpoints.reject { |endpoint| named.include?(endpoint.name) }
          weights = [*groups, others].zip([*@shares, [1 - @shares.sum, 0].max])
            .map { |group, share| spread(group, share) }.inject(:merge)
          endpoints = workload.endpoints.map { |one| one.with(weight_ratio: weights.fetch(one.name)) }
          [workload.with(endpoints: endpoints.freeze), machine]
        end

        private

        def share(expression)
          unless expression.operator == "=" && expression.selector
            expression.refuse("write the share of an endpoint, such as mix(/articles)=0.5")
          end
          expression.factor.tap do |share|
            expression.refuse("write a share from 0 to 1, or from 0% to 100%") if share > 1
          end
        end

        def ensure_named_once(names)
          twice = names.tally.find { |_, times| times > 1 }&.first
          @expressions.last.refuse("#{twice} has a share by two expressions; give it one") if twice
        end

        # Spreads it in the endpoints' proportions; if they had no weight left, each gets the same.
        # @return [Hash{String => Float}] by name
        def spread(endpoints, share)
          if endpoints.empty? && share > 1e-9
            @expressions.last.refuse("nothing is left for the other " \
              "#{Units.percent(share)}, as all endpoints are named")
          end
          total_ratio = endpoints.sum(&:weight_ratio)
          endpoints.to_h do |endpoint|
            [endpoint.name,
              share * (total_ratio.positive? ? endpoint.weight_ratio / total_ratio : 1.fdiv(endpoints.size))]
          end
        end
      end

      # `weight(/articles)*2`: so many times the requests to some endpoints, in proportion to all others.
      class Weight < Change
        EXAMPLES = {"*" => "(/articles)*2"}.freeze
        SELECTS = true

        def call(workload, machine)
          names = Selection.of(@expression, workload.endpoints).map(&:name)
          weights = workload.endpoints.map do |endpoint|
            endpoint.weight_ratio * (names.include?(endpoint.name) ? @factor : 1)
          end
          @expression.refuse("no request is left") unless weights.sum.positive?
          endpoints = workload.endpoints.zip(weights).map do |endpoint, weight|
            endpoint.with(weight_ratio: weight / weights.sum)
          end
          [workload.with(endpoints: endpoints.freeze), machine]
        end

        private

        def prepare
          @factor = @expression.factor
          unless @expression.selector
            @expression.refuse("name an endpoint, such as weight(/articles)*2; traffic*2 is more of all")
          end
        end
      end
    end
  end
end
