# frozen_string_literal: true

module PumaTuner
  module Predict
    # The goal that a forecast must meet: there is a steady state, and its latencies, as the client sees them, are
    # within these.
    #
    # max_ns: Hash, by percentile such as "p95"; empty where anything goes
    Goal = Document.define(:max_ns) do
      def initialize(max_ns: {}) = super(max_ns: max_ns.sort_by { |name, _| Percentile.ratio(name) }.to_h.freeze)

      # @param forecast [Forecast] judged by the middle of its estimates
      # @return [String, nil] why it does not hold; nil when it does
      def failure(forecast)
        return "no steady state" unless forecast.steady?
        max_ns.each do |name, limit_ns|
          estimate = forecast.quantile(name)
          next if estimate.value <= limit_ns
          return "#{name} would be #{Units.duration(estimate.value)} (#{Units.duration(estimate.low)} to " \
            "#{Units.duration(estimate.high)})"
        end
        nil
      end

      # @return [Array<String>] the percentiles that it is about, ascending
      def percentiles = max_ns.keys

      # @return [Boolean] whether it says anything of latencies
      def latency? = max_ns.any?

      # @return [String] "a p99 of at most 200 ms"
      def to_s
        return "a steady state" unless latency?
        max_ns.map { |name, limit_ns| "a #{name} of at most #{Units.duration(limit_ns)}" }.join(" and ")
      end
    end

    # The most that some settings can take while a goal holds: the rate of an
    # open loop, or the connections of a closed one.
    #
    # forecast: at the limit; nil when the goal does not hold with any load
    # failed_forecast: of the least load at which it was found not to hold; nil when it holds with the most load that
    #   was tried
    # tolerance_ratio: the failed load is at most this much more; forecasts_count: made to find it
    Capacity = Document.define(:goal, :forecast, :failed_forecast, :tolerance_ratio, :forecasts_count,
      nested: {goal: Goal, forecast: Forecast, failed_forecast: Forecast}) do
      # @return [Scenario, nil] at the limit
      def scenario = forecast&.scenario

      # @return [Scenario, nil]
      def failed_scenario = failed_forecast&.scenario

      # @return [String] what was given the load, without the load, which is what was asked for
      def setting = (scenario || failed_scenario).then { |one| one.to_s.delete_suffix(", #{one.arrivals}") }
    end
  end
end
