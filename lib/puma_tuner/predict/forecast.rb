# frozen_string_literal: true

module PumaTuner
  module Predict
    # What simple formulas say of the same topology, so that a reader sees where they fail.
    #
    # bound_per_s: min(slots over service time, workers over CPU, cores over CPU, connections over service and think time);
    # amdahl_per_s; mva_per_s: exact mean value analysis of one worker, times workers
    ClosedForms = Document.define(:bound_per_s, :amdahl_per_s, :mva_per_s)

    # What would happen with one topology.
    #
    # throughput_per_s, mean_ns, p50_ns, p99_ns: Estimates over the seeds; latency as the client sees it
    # gvl_wait_ns, queue_ns: mean per request; cores_used: mean number of cores kept busy by the server
    # memory_bytes: PSS of all processes, nil where it can't be told from the recording
    # bottleneck: "threads", "gvl", "cores" or "clients", whichever sets the lowest bound
    Forecast = Document.define(:topology, :throughput_per_s, :mean_ns, :p50_ns, :p99_ns, :gvl_wait_ns, :queue_ns,
      :cores_used, :memory_bytes, :bottleneck, :closed_forms,
      nested: {topology: Topology, throughput_per_s: Stats::Estimate, mean_ns: Stats::Estimate, p50_ns: Stats::Estimate,
               p99_ns: Stats::Estimate, closed_forms: ClosedForms})

    # Forecasts over a grid of topologies, all for the same workload, machine and arrivals.
    #
    # today: the topology the recording was made with; rule_of_thumb_threads_count: 100 / CPU %
    # seed: of the first simulation; seeds_count: simulations per topology; requests_count: counted in each
    Sweep = Document.define(:forecasts, :today, :rule_of_thumb_threads_count, :connections_count, :seed, :seeds_count,
      :requests_count, kind: :sweep, nested: {forecasts: [Forecast], today: Topology}) do
      # @return [Forecast, nil]
      def at(topology) = forecasts.find { |forecast| forecast.topology == topology }
    end
  end
end
