# frozen_string_literal: true

module PumaTuner
  module Predict
    # Percentiles by their names, such as "p95" and "p99.9".
    module Percentile
      # Every forecast tells these percentiles, with an interval that shows how little may stand behind them.
      ALWAYS = %w[p50 p90 p99].freeze

      # So many requests of each simulation must lie beyond a percentile, or the last of them alone decides. This is a
      # judgement.
      SIMULATED_BEYOND_COUNT = 5

      NAME = /\Ap(?<number>\d{1,2}(?:\.\d{1,4})?)\z/

      module_function

      def name?(text) = NAME.match?(text)

      # @param name [String]
      # @return [Rational] 999/1000 of "p99.9"
      def ratio(name) = Rational(name[NAME, :number]) / 100

      # @param names [Array<String>] of which others are passed over
      # @return [String] the lowest percentile of them that is not below it, else the highest
      def among(names, name)
        sorted = names.select { |other| name?(other) }.sort_by { |other| ratio(other) }
        sorted.find { |other| ratio(other) >= ratio(name) } || sorted.last
      end

      # Seen requests alone tell how slow the slowest of so many are: one of those that were recorded step by step must
      # be expected beyond the percentile.
      #
      # @param name [String]
      # @param workload [Model::Workload]
      # @param simulated_count [Integer] in each simulation
      # @return [void]
      # @raise [UsageError] when there are too few
      def ensure_enough_requests(name, workload, simulated_count)
        return if ALWAYS.include?(name)
        recorded_count = workload.endpoints.sum { |endpoint| endpoint.demands.size }
        one_of = (1 / (1 - ratio(name))).ceil
        if recorded_count < one_of
          raise UsageError, "#{name}: one request in #{one_of} takes longer than that, " \
            "and #{recorded_count} were recorded step by step, too few to tell. Record #{one_of} at least, or ask " \
            "for a lower percentile"
        end
        return if simulated_count >= SIMULATED_BEYOND_COUNT * one_of
        raise UsageError, "#{name}: one request in #{one_of} takes longer than that, " \
          "and each simulation counts #{simulated_count}; give --simulated-requests " \
          "#{SIMULATED_BEYOND_COUNT * one_of} or more"
      end
    end
  end
end
