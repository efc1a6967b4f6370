# frozen_string_literal: true

module PumaTuner
  module Report
    # A mean simulated request's time in the parts that recorded requests have, so that the same charts show both; and in one
    # more, as a client's time begins and ends outside Puma.
    class SimulatedBudget
      # gc is no part of cpu here, as in a recorded budget.
      PARTS = [
        Parts::Part.new(:client, "client", "not sent yet, on its way, or not read yet"), *Parts::ALL
      ].freeze

      # @param forecast [Predict::Forecast] with a steady state
      def initialize(forecast)
        @budget = forecast.budget
        @gc_ns = @budget.gc_ns
      end

      # @return [Float]
      def wall_ns = @wall_ns ||= PARTS.sum { |part| part_ns(part.name).to_f }

      # @return [Float, nil] nanoseconds
      def part_ns(name)
        case name
        when :cpu then @budget.cpu_ns - @gc_ns.to_f
        when :gc then @gc_ns
        else @budget.public_send(:"#{name}_ns")
        end
      end

      # @return [Float, nil] share of the client's time, 0..1
      def share_ratio(name) = (part_ns(name)&.fdiv(wall_ns) if wall_ns.positive?)
    end
  end
end
