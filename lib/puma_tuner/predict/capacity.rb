# frozen_string_literal: true

module PumaTuner
  module Predict
    # The most that some settings can take while goals hold: the rate of an open loop, or the connections of a closed
    # one.
    #
    # goals: Array<Goal>; without any, a steady state is all that is asked for
    # judged_by: :high: a goal holds while the upper end of the forecast's interval meets it; :value: while the middle
    #   does
    # forecast: at the limit; nil when the goals do not hold with any load
    # failed_forecast: of the least load at which they were found not to hold; nil when they hold with the most load
    #   that was tried
    # asked_per_s: the rate that several machines together are to take; nil where nobody asked
    # tolerance_ratio: the failed load is at most this much more; forecasts_count: made to find it
    Capacity = Document.define(:goals, :judged_by, :forecast, :failed_forecast, :asked_per_s, :tolerance_ratio,
      :forecasts_count,
      symbols: [:judged_by], nested: {goals: [Goal], forecast: Forecast, failed_forecast: Forecast}) do
      # @return [Scenario, nil] at the limit
      def scenario = forecast&.scenario

      # @return [Scenario, nil]
      def failed_scenario = failed_forecast&.scenario

      # @return [Float, nil] of an open loop; nil when the goals hold with no load
      def rate_per_s = scenario&.arrivals&.rate_per_s

      # @return [Integer, nil] how many machines take the rate that was asked for
      def machines_count = asked_per_s && rate_per_s && (asked_per_s / rate_per_s).ceil

      # @return [Miss, nil] why the goals do not hold beyond the limit
      def miss = failed_forecast&.miss(goals, by: judged_by)

      # @return [String] what was given the load, without the load, which is what was asked for
      def setting = (scenario || failed_scenario).then { |one| one.to_s.delete_suffix(", #{one.arrivals}") }
    end
  end
end
