# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # `traffic*2`: so many times the rate of an open loop, or the connections of a closed one. `rate=300`: an open
      # loop of that rate. `connections=50`: a closed loop of so many.
      class Traffic < Change
        OPERATORS = {"traffic" => "*", "rate" => "=", "connections" => "="}.freeze

        def call(workload, machine)
          arrivals = changed(workload.arrivals)
          return [workload.with(arrivals:), machine] if possible?(arrivals)
          @expression.refuse("that would be #{arrivals}; an open loop may have #{rates.begin} to #{rates.end} " \
            "requests/s, and a closed one #{connections.begin} to #{connections.end} connections")
        end

        private

        def rates = Model::Arrivals::RATES_PER_S

        def connections = Model::Arrivals::CONNECTIONS_COUNTS

        def possible?(arrivals)
          arrivals.open? ? rates.cover?(arrivals.rate_per_s) : connections.cover?(arrivals.connections_count)
        end

        def check
          return if operator == OPERATORS.fetch(target) && !@expression.selector
          @expression.refuse("write traffic*2, rate=300 or connections=50")
        end

        def prepare
          @value = (target == "connections") ? @expression.count(connections) : @expression.factor(least: LEAST_FACTOR)
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
