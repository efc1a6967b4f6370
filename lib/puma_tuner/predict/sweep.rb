# frozen_string_literal: true

module PumaTuner
  module Predict
    # Forecasts over a grid of scenarios, all for the same workload and machine.
    #
    # today: the topology the recording was made with; rule_of_thumb_threads_count: 100 / CPU %
    # arrivals: those of the recording; what_if: Array<String>, changes to the
    #   app that are assumed, as they were written
    # seed: of the first simulation; seeds_count: simulations per scenario; requests_count: counted in each
    # past_error: Hash, by metric: typical ratio by which earlier forecasts of this app missed (see TrackRecord), and
    #   how many checks these were; nil without any
    # self_check: SelfCheck of what it was recorded with; nil where the recording does not tell what it saw
    # capacities: Array<Capacity>, where the most load was searched; its forecasts are then those at the limits
    # remarks: Array<String>, what else is to be told of how they came about; limits: what limits them, an Unknown each
    Sweep = Document.define(:forecasts, :today, :rule_of_thumb_threads_count, :arrivals, :what_if, :seed, :seeds_count,
      :requests_count, :past_error, :remarks, :limits, :self_check, :capacities,
      kind: :sweep, added: {limits: [], self_check: nil, capacities: []},
      nested: {forecasts: [Forecast], today: Topology, arrivals: Model::Arrivals, limits: [Unknown],
               self_check: SelfCheck, capacities: [Capacity]}) do
      # @param one [Forecast] of these
      # @param other [Forecast] of these
      # @param name [Symbol] of an Estimate
      # @return [Stats::Estimate] of one over the other, with what the model gets wrong of this app
      def ratio(one, other, name) = one.ratio_to(other, name, Uncertainty.new(past_error, self_check))

      # @return [Array<String>] those asked for, else p50 and p99
      def percentiles = forecasts.find { |forecast| forecast.quantiles.any? }&.quantiles&.keys || %w[p50 p99]

      # @return [Boolean] whether advice may rest on it alone
      def trusted? = self_check.nil? || self_check.trusted?

      # @param topology [Topology]
      # @return [Forecast, nil] of the topology, with the arrivals of the recording when there are several
      def at(topology)
        of_topology = forecasts.select { |forecast| forecast.topology == topology }
        of_topology.find { |forecast| forecast.scenario.arrivals == arrivals } || of_topology.first
      end
    end
  end
end
