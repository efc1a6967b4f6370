# frozen_string_literal: true

# The values between the stages, made by hand. Every argument has a default, so that a test names only what it is about.
module Builders
  include PumaTuner

  MS = Units::NS_PER_MS

  def topology(text) = Topology.parse(text)

  # --- what measure gives

  # @param steps [Array] kind and milliseconds in turn
  # @param cpu_ms [Numeric, nil] by the CPU clock; nil: all that was held
  def trace(*steps, cpu_ms: nil, gc_ms: 0)
    steps_ns = steps.map { |step| step.is_a?(Numeric) ? (step * MS).round : step }
    held_ns = steps_ns.each_slice(2).sum { |kind, ns| (kind == "held") ? ns : 0 }
    on_core_ns, gc_ns = cpu_ms ? (cpu_ms * MS).round : held_ns, gc_ms && (gc_ms * MS).round
    Probe::Trace.new(steps: steps_ns, wall_ns: steps_ns.grep(Integer).sum, queue_ns: 0, cpu_ns: on_core_ns - gc_ns.to_i, gc_ns:)
  end

  # @param budget [Hash] parts that are not zero
  def endpoint_observation(name: "GET /", traces: [trace("held", 2, "io", 8)] * 40, requests_count: traces.size, budget: {})
    Probe::EndpointObservation.new(name:, requests_count:, unaccounted_count: 0, budget: Probe::Budget.zero.with(**budget),
      latency: Probe::Histogram.of([10 * MS, 20 * MS]), p50_ns: 10 * MS, p99_ns: 20 * MS, distributions: [], slices_count: 0,
      long_holds_count: 0, blame: [], traces:)
  end

  def process_observation(role: "single", worker_index: nil, cpu_ns: 0, pss_bytes: 80_000_000)
    Probe::ProcessObservation.new(role:, worker_index:, pid: 100 + worker_index.to_i, requests_count: nil, cpu_ns:, gc_count: 0,
      rss_bytes: 100_000_000, pss_bytes:)
  end

  def load_summary(connections_count: 10)
    Probe::LoadSummary.new(generator: "wrk", arrivals: "closed", rate_per_s: nil, think_ns: 0, reuse_count: nil, connections_count:, duration_ns: 10_000 * MS, requests_count: 1_000,
      unexpected_count: 0, throughput_per_s: 100.0, mean_ns: 30 * MS, p50_ns: 28 * MS, p99_ns: 60 * MS)
  end

  def observation(endpoints: [endpoint_observation], processes: [process_observation], load: load_summary, topology: topology("1x5"),
    duration_ns: 10_000 * MS, timeslice_ms: 100, cores_count: 4, cpu_quota_cores: nil, memory_limit_bytes: nil)
    Probe::Observation.new(started_at: "2026-01-01T00:00:00Z", duration_ns:, command: "bundle exec puma", way_in: "command",
      topology:, min_threads_count: topology.threads_count, server: server_facts(timeslice_ms),
      machine: machine_facts(cores_count, cpu_quota_cores, memory_limit_bytes), load:, budget: Probe::Budget.zero, endpoints:, jobs: [], threads: [],
      background: [], processes:,
      probe: nil, unknown: [])
  end

  def server_facts(thread_timeslice_ms)
    Probe::ServerFacts.new(ruby_version: "3.4.5", ruby_description: "ruby 3.4.5", yjit_enabled: true, puma_version: "8.0.2",
      rack_version: "3.2.8", thread_timeslice_ms:, rack_environment: "production")
  end

  def machine_facts(cores_count, cpu_quota_cores, memory_limit_bytes = nil)
    Probe::MachineFacts.new(cores_count:, cpu_model: "test", cpu_quota_cores:, memory_bytes: 1 << 33, kernel: "Linux",
      load_average: 0.0, cpu_pressure_ratio: 0.0, memory_limit_bytes:)
  end

  # --- what model gives

  # @param bursts_ms [Array<Numeric>]
  # @param waits_ms [Array<Numeric>] one fewer
  # @param wait_kinds [Array<String>] of "acquire" and "release" the entry of waits_ms is the lock's index
  def demand(bursts_ms, waits_ms = [], wait_kinds: waits_ms.map { "io" }, gc_ms: 0)
    waits_ns = waits_ms.zip(wait_kinds).map { |ms, kind| Probe::Parts::MARKERS.key?(kind) ? ms : (ms * MS).round }
    Model::Demand.new(bursts_ns: bursts_ms.map { |ms| (ms * MS).round }.freeze, waits_ns: waits_ns.freeze,
      wait_kinds: wait_kinds.freeze, gc_ns: gc_ms && (gc_ms * MS).round)
  end

  def endpoint_demand(*demands, name: "GET /", weight_ratio: 1.0)
    mean = ->(number) { demands.sum(&number).fdiv(demands.size).round }
    Model::EndpointDemand.new(name:, weight_ratio:, requests_count: 100, mean_held_ns: mean.call(:held_ns), mean_wait_ns: mean.call(:wait_ns),
      mean_lock_ns: mean.call(:lock_ns), mean_gc_ns: (mean.call(:gc_ns) if demands.all?(&:gc_ns)), demands: demands.freeze)
  end

  def workload(endpoints: [endpoint_demand(demand([2, 3, 1], [5, 10]))], connections_count: 10, think_ms: 0, overhead_cpu_ns: 0,
    observed_topology: topology("1x5"), memory: Model::MemoryDemand.new(shared_bytes: nil, per_worker_bytes: nil, single_bytes: nil),
    ruby_version: "3.4.5", timeslice_ms: 100, kinds_of_locks: [], **others)
    Model::Workload.new(endpoints:, overhead_cpu_ns:, tail_cpu_ns: 0, timeslice_ms:, memory:, observed_topology:, observed_throughput_per_s: nil,
      arrivals: Model::Arrivals.closed(connections_count, think_ns: (think_ms * MS).round),
      observed_p50_ns: nil, observed_p99_ns: nil, puma_version: "8.0.2", ruby_version:, locks: kinds_of_locks.each_with_index.map { |kind, index| lock_demand(kind, name: "lock #{index}") }, unknown: [], **others)
  end

  # @param kind [String, Integer, Array(String, Integer)] a pool's size; its kind and size
  def lock_demand(kind, name: "Mutex at app.rb:1")
    kind, servers_count = kind.is_a?(Integer) ? ["pool", kind] : [*kind, 1].first(2)
    Model::LockDemand.new(name:, kind:, servers_count:)
  end

  # Cores enough, no hand-off and no client, unless the test is about them.
  def machine(cores_count: 64, effective_cores: (1..cores_count).map(&:to_f), handoff_ns: 0, client_cpu_ns: 0, **others)
    Model::Machine.new(cores_count:, effective_cores:, quota_ns: nil, period_ns: nil, tick_ns: 10 * MS, handoff_ns:, handoff_busy_ns: handoff_ns, wakeup_idle_ns: [0],
      wakeup_loaded_ns: [0], acceptor_cpu_ns: 0, reactor_wakeup_cpu_ns: 0, reactor_register_cpu_ns: 0, tail_cpu_ns: 0,
      client_send_cpu_ns: client_cpu_ns / 2, client_receive_cpu_ns: client_cpu_ns / 2, calibrated: nil, **others)
  end

  def scenario(text, arrivals = Model::Arrivals.closed(10), **others) = Predict::Scenario.of(topology(text), arrivals, **others)

  # --- what predict gives

  def estimate(value, spread_ratio = 0.01)
    Stats::Estimate.new(value:, low: value * (1 - spread_ratio), high: value * (1 + spread_ratio), level_ratio: nil, samples_count: 5)
  end

  def forecast(text, throughput_per_s, p99_ms: 100, memory_bytes: nil, bottleneck: "threads", arrivals: Model::Arrivals.closed(10))
    Predict::Forecast.new(scenario: scenario(text, arrivals), unsteady: nil, throughput_per_s: estimate(throughput_per_s), mean_ns: estimate(50.0 * MS),
      p50_ns: estimate(50.0 * MS), p90_ns: estimate([70.0, p99_ms].min * MS), p99_ns: estimate(p99_ms * MS), budget: forecast_budget,
      gvl_wait_ns: estimate(0.0), queue_ns: 0.0, slices_per_request: 0.0, cores_used: 1.0, memory_bytes:, bottleneck:,
      closed_forms: Predict::ClosedForms.new(bound_per_s: throughput_per_s, amdahl_per_s: throughput_per_s, mva_per_s: throughput_per_s,
        flow_equivalent_per_s: throughput_per_s, flow_equivalent_mean_ns: 50.0 * MS, cpu_share_per_s: throughput_per_s))
  end

  def forecast_budget = Probe::Budget.of(Probe::Parts::SIMULATED.to_h { |part| [part, 0.0] })

  # @param forecasts [Array<Predict::Forecast>] the first is today's unless told otherwise
  def sweep(*forecasts, today: forecasts.first.topology, rule_of_thumb_threads_count: 4)
    Predict::Sweep.new(forecasts:, today:, rule_of_thumb_threads_count:, arrivals: forecasts.first.scenario.arrivals, what_if: [], seed: 1,
      seeds_count: 5, requests_count: 2_000, past_error: nil, remarks: [])
  end

  # @param advice [PumaTuner::Advise::Advice, nil]
  # @return [PumaTuner::Advise::Advice, nil] with texts, as people read them
  def told(advice) = advice&.with(**Report::AdviceWords.of(advice).to_h)
end
