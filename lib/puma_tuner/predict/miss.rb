# frozen_string_literal: true

module PumaTuner
  module Predict
    # Why a forecast does not meet what is asked of it.
    #
    # unsteady: a Statement, why there is no steady state; then there is no more to tell, and the others are nil
    # goal: a Goal that it misses; latency_ns: the Estimate of what that limits
    Miss = Document.define(:unsteady, :goal, :latency_ns,
      nested: {unsteady: Statement, goal: Goal, latency_ns: Stats::Estimate}) do
      # @param by [Symbol] see Forecast#miss
      # @return [Float] the latency over the goal's limit; without a steady state, or where nobody knows it, infinite
      def excess_ratio(by = :high) = latency_ns ? latency_ns.public_send(by).fdiv(goal.limit_ns) : Float::INFINITY
    end
  end
end
