# frozen_string_literal: true

module PumaTuner
  module Predict
    # How slow the slowest of so many are is known only of requests that were seen: one of those that were recorded step
    # by step must be expected beyond a percentile, and some of each simulation's.
    class EnoughRequests
      # So many requests of each simulation must lie beyond one, or the last of them alone decides. A judgement.
      SIMULATED_BEYOND_COUNT = 5

      # @param workload [Model::Workload]
      # @param simulated_count [Integer] requests counted in each simulation
      def initialize(workload, simulated_count)
        @workload = workload
        @simulated_count = simulated_count
      end

      # @param percentile [String]
      # @raise [UsageError] when there are too few
      def ensure_of_all(percentile)
        return if Percentile::ALWAYS.include?(percentile)
        ensure_enough(percentile, percentile, @workload.endpoints.sum { |endpoint| endpoint.demands.size }, 1.0)
      end

      # @param goal [Goal] of an endpoint
      # @return [Integer] the endpoint's index in the workload
      # @raise [UsageError] when there is no such endpoint, no request goes to it as it is assumed, or too few were seen
      def ensure_of_endpoint(goal)
        index = @workload.endpoints.index { |endpoint| endpoint.name == goal.endpoint }
        raise UsageError, unknown_endpoint(goal) unless index
        endpoint = @workload.endpoints[index]
        if endpoint.weight_ratio.zero?
          raise UsageError, "\"#{goal}\": no request goes to #{goal.endpoint} with what is assumed; leave out the goal"
        end
        ensure_enough(goal.to_s, goal.percentile, endpoint.demands.size,
          endpoint.weight_ratio / @workload.endpoints.sum(&:weight_ratio))
        index
      end

      private

      def unknown_endpoint(goal)
        names = @workload.endpoints.map(&:name)
        shown = names.first(10).map(&:inspect).join(", ")
        "\"#{goal}\": the recording has no endpoint #{goal.endpoint.inspect}; there is #{shown}" \
          "#{" and #{names.size - 10} more" if names.size > 10}"
      end

      def ensure_enough(what, percentile, recorded_count, share_ratio)
        one_of = (1 / (1 - Percentile.ratio(percentile))).ceil
        if recorded_count < one_of
          raise UsageError, "#{what}: one request in #{one_of} takes longer than that, " \
            "and #{recorded_count} were recorded step by step, too few to tell. Record #{one_of} at least, or ask " \
            "for a lower percentile"
        end
        needed_count = (SIMULATED_BEYOND_COUNT * one_of / share_ratio).ceil
        return if @simulated_count >= needed_count
        raise UsageError, "#{what}: one request in #{one_of} takes longer than that, " \
          "and each simulation counts #{(@simulated_count * share_ratio).round}; give --simulated-requests " \
          "#{needed_count} or more"
      end
    end
  end
end
