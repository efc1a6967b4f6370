# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # `traffic*2`: so many times the rate of an open loop, or the connections of a closed one. `rate=300`: an open
      # loop of that rate. `connections=50`: a closed loop of so many.
      class Traffic < Change
        OPERATORS = {"traffic" => "*", "rate" => "=", "connections" => "="}.freeze

        def call(workload, machine) = [workload.with(arrivals: changed(workload.arrivals)), machine]

        private

        def check
          return if operator == OPERATORS.fetch(target) && !@expression.selector
          @expression.refuse("write traffic*2, rate=300 or connections=50")
        end

        def prepare
          @value = (target == "connections") ? @expression.count(1..10_000) : @expression.factor(least: LEAST_FACTOR)
        end

        def changed(arrivals)
          case target
          when "traffic" then arrivals.times(@value)
          when "rate"
            return arrivals.times(@value / arrivals.rate_per_s) if arrivals.open?
            Model::Arrivals.open(@value, reuse_count: arrivals.reuse_count)
          else Model::Arrivals.closed(@value, think_ns: arrivals.think_ns || 0, reuse_count: arrivals.reuse_count)
          end
        end
      end
    end
  end
end
