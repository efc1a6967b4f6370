# frozen_string_literal: true

# A whole tuning by hand: a shop's API, measured at 1x5, for which 2x3 is recommended and proven. Nothing here comes from
# a machine, so that what is made of it is the same everywhere.
module TuningFixture
  include PumaTuner

  MS = Units::NS_PER_MS

  # Name, requests, wall time of a request in ms, p50 and p99 in ms, shares of the wall time (pool is in lock, gc_waited
  # in gvl_wait; db, redis, http and file in io), ms between the proxy and Puma.
  ENDPOINTS = [
    ["GET /articles", 3_710, 84.0, 80.2, 205.0, {queue: 0.412, cpu: 0.163, preempted: 0.006, gvl_wait: 0.171, gc: 0.014, io: 0.231, db: 0.182, redis: 0.021, gc_waited: 0.011}, 3.1],
    ["GET /articles/:id", 2_680, 66.0, 63.1, 171.0, {queue: 0.618, cpu: 0.071, preempted: 0.002, gvl_wait: 0.094, gc: 0.003, io: 0.209, db: 0.197, gc_waited: 0.006}, 2.9],
    ["POST /orders", 620, 112.0, 108.0, 288.0,
      {queue: 0.301, cpu: 0.142, preempted: 0.009, gvl_wait: 0.163, gc: 0.011, io: 0.188, db: 0.064, http: 0.117, lock: 0.182, pool: 0.151, gc_waited: 0.012}, 3.4],
    ["GET /search", 420, 151.0, 144.0, 402.0, {queue: 0.187, cpu: 0.402, preempted: 0.013, gvl_wait: 0.288, gc: 0.062, io: 0.046, gc_waited: 0.004}, 3.0],
    ["GET /health", 72, 42.0, 40.4, 96.0, {queue: 0.934, cpu: 0.011, gvl_wait: 0.052}]
  ].freeze

  JOBS = [
    ["OrderMailJob", 310, 95.0, 71.0, 410.0, {cpu: 0.221, preempted: 0.003, gvl_wait: 0.182, gc: 0.014, io: 0.578, http: 0.491, db: 0.052, file: 0.006, gc_waited: 0.009}],
    ["Reports::NightlyJob", 4, 2_150.0, 1_980.0, 2_600.0, {cpu: 0.612, preempted: 0.011, gvl_wait: 0.201, gc: 0.098, io: 0.077}]
  ].freeze

  # Name, and ms of cpu, gc, gvl_wait.
  BACKGROUND = [["cable heartbeat", 842, 31, 410], ["puma reactor", 212, 0, 388], ["prometheus exporter", 61, 4, 22], ["puma stat pld", 3, 0, 1]].freeze

  # Weights of those who hold the GVL: kind, name, weight.
  HOLDERS = [["request", "GET /articles", 36], ["request", "GET /search", 22], ["request", "GET /articles/:id", 11], ["request", "POST /orders", 8],
    ["job", "Reports::NightlyJob", 9], ["job", "OrderMailJob", 3], ["thread", "cable heartbeat", 2], ["special", "(gc)", 5], ["special", "(puma)", 2],
    ["special", "(other)", 1]].freeze

  THREAD_SHARES = {cpu: 0.287, preempted: 0.009, gvl_wait: 0.263, gc: 0.021, io: 0.379, lock: 0.038, sleep: 0.0}.freeze

  # Requests/s that formulas give one worker of so many threads, and what the simulations make of it.
  ONE_WORKER_PER_S = [96.4, 168.0, 214.0, 236.0, 247.0, 251.0, 253.0, 254.0].freeze

  module_function

  # @return [PumaTuner::Tuning]
  # @param fields [Hash] to be different from the usual
  def tuning(**fields)
    Tuning.new(command: "puma_tuner tune config.ru --requests requests.txt --threads 1..8 --workers 1..2",
      recorded_at: "2026-03-02T10:15:00Z", observation:, machine:, workload:, sweep:, advice_list:, verdict:, **fields)
  end

  # @return [PumaTuner::Probe::Observation]
  def observation(**fields)
    rows = fields.delete(:endpoint_rows) || ENDPOINTS
    endpoints = rows.map { |row| endpoint(*row) }
    jobs = JOBS.map { |row| job(*row) }
    Probe::Observation.new(started_at: "2026-03-02T10:15:00Z", duration_ns: 30_012 * MS, command: "bundle exec puma -t 5:5",
      way_in: "command", topology: topology("1x5"), min_threads_count: 5, server:, machine: machine_facts, load:,
      budget: endpoints.map(&:budget).reduce(:+), endpoints:, jobs:, threads: threads([nil], 5), background:,
      processes: [process("single", nil)],
      probe: Probe::ProbeCost.new(cycles_count: 137_350, cost_per_cycle_ns: 54, cost_per_request_ns: 1_310, cost_ratio: 0.0011),
      unknown: [Unknown.of(:traces, :sampled, most_count: 300)], **fields)
  end

  # @return [PumaTuner::Probe::Observation] of a cluster without load of ours, with parts that nobody could tell apart
  def cluster_observation
    holders = HOLDERS.reject { |kind, _, _| kind == "job" }
    unseen = ENDPOINTS.map do |row|
      endpoint(*row.first(6)).then do |seen|
        seen.with(unaccounted_count: seen.requests_count / 90, budget: seen.budget.with(queue_ns: nil, gc_ns: nil),
          blame: blame(seen.name, seen.budget.gvl_wait_ns, holders))
      end
    end
    observation(topology: topology("2x3"), min_threads_count: 0, load: nil, way_in: "rack", threads: threads([0, 1], 3), jobs: [],
      endpoints: unseen, budget: unseen.map(&:budget).reduce(:+),
      processes: [process("master", nil).with(requests_count: 0, cpu_ns: nil, gc_count: nil), process("worker", 0), process("worker", 1).with(pss_bytes: nil)],
      server: server.with(yjit_enabled: nil), machine: machine_facts.with(cpu_model: nil, load_average: nil, cpu_pressure_ratio: nil, memory_bytes: nil),
      probe: Probe::ProbeCost.new(cycles_count: 3_000, cost_per_cycle_ns: 54, cost_per_request_ns: 1_310, cost_ratio: nil),
      unknown: [Unknown.of(:other, :told, whose: "endpoints.budget.queue_ns", detail: "a middleware is called after it")])
  end

  # @return [PumaTuner::Probe::Observation] without the extension
  def observation_without_extension
    endpoints = ENDPOINTS.map { |row| without_extension(endpoint(*row)) }
    observation(endpoints:, budget: endpoints.map(&:budget).reduce(:+), jobs: [], threads: [], background: [],
      probe: Probe::ProbeCost.new(cycles_count: 0, cost_per_cycle_ns: 0, cost_per_request_ns: 0, cost_ratio: 0.0),
      unknown: [Unknown.of(:parts, :no_extension, detail: "the extension is not built")])
  end

  # @return [PumaTuner::Probe::EndpointObservation] as told by Ruby alone
  def without_extension(endpoint)
    nothing = %i[preempted gvl_wait gc io lock sleep pool gc_waited db redis http file].to_h { |part| [:"#{part}_ns", nil] }
    queue = Probe::Distribution.new(part: "queue", histogram: endpoint.latency)
    endpoint.with(unaccounted_count: nil, slices_count: nil, long_holds_count: nil, blame: [], traces: [], distributions: [queue],
      budget: endpoint.budget.with(**nothing))
  end

  # @return [PumaTuner::Probe::Observation] a snapshot of a process of jobs, without Puma
  def jobs_observation
    holders = HOLDERS.reject { |kind, _, _| kind == "request" }
    jobs = JOBS.map { |row| job(*row).then { |job| job.with(blame: blame(job.name, job.budget.gvl_wait_ns, holders)) } }
    observation(command: nil, way_in: "jobs", topology: nil, min_threads_count: nil, load: nil, endpoints: [], jobs:, threads: [],
      budget: jobs.map(&:budget).reduce(:+), server: server.with(puma_version: nil, rack_version: nil, rack_environment: nil),
      processes: [process("single", nil).with(requests_count: 0)])
  end

  # @param shares [Hash{Symbol => Float}] the rest is the residual
  # @return [PumaTuner::Probe::EndpointObservation]
  def endpoint(name, requests_count, wall_ms, p50_ms, p99_ms, shares, before_puma_ms = nil)
    trace = Probe::Trace.new(steps: ["held", 3 * MS, "io", 9 * MS, "gvl_wait", 4 * MS, "held", 2 * MS], wall_ns: 18 * MS, queue_ns: 20 * MS,
      cpu_ns: 5 * MS, gc_ns: 0)
    wall_ns = (requests_count * wall_ms * MS).round
    latency = latency(requests_count, p50_ms, p99_ms)
    Probe::EndpointObservation.new(name:, requests_count:, unaccounted_count: 0,
      budget: budget(wall_ns, shares).with(before_puma_ns: before_puma_ms && (before_puma_ms * requests_count * MS).round),
      latency:, p50_ns: latency.quantile_ns(0.5), p99_ns: latency.quantile_ns(0.99), distributions: [Probe::Distribution.new(part: "cpu", histogram: latency)],
      slices_count: slices(name, requests_count), long_holds_count: slices(name, requests_count) * 7,
      blame: blame(name, wall_ns * shares.fetch(:gvl_wait, 0)),
      traces: [trace] * [requests_count, 60].min)
  end

  # @return [PumaTuner::Probe::EndpointObservation]
  def job(*row) = endpoint(*row).then { |job| job.with(budget: job.budget.with(queue_ns: nil)) }

  # Only what computes long meets the end of a time slice.
  def slices(name, count) = {"GET /search" => count / 6, "Reports::NightlyJob" => count * 11}.fetch(name, 0)

  # With that median and that p99: a logistic distribution of the logarithm.
  # @return [PumaTuner::Probe::Histogram]
  def latency(count, p50_ms, p99_ms)
    spread = Math.log(p99_ms / p50_ms) / Math.log(99)
    Probe::Histogram.of((1..count).map { |rank| (p50_ms * ((rank - 0.5) / (count - rank + 0.5))**spread * MS).round })
  end

  # Nearly all of the wait; the shortest waits are not looked into.
  # @return [Array<PumaTuner::Probe::Blame>]
  def blame(name, wait_ns, holders = HOLDERS)
    weights = holders.to_h { |kind, holder, weight| [[kind, holder], (holder == name) ? weight / 2.0 : weight] }
    weights.map { |(kind, holder), weight| Probe::Blame.new(kind:, holder:, wait_ns: (wait_ns * 0.994 * weight / weights.values.sum).round) }
      .sort_by { |blame| -blame.wait_ns }
  end

  # @return [PumaTuner::Probe::Budget]
  def budget(wall_ns, shares, idle_ns: nil)
    parts = [*Probe::Parts::REQUEST, :pool, :gc_waited, :db, :redis, :http, :file].to_h { |part| [:"#{part}_ns", (wall_ns * shares.fetch(part, 0)).round] }
    Probe::Budget.new(wall_ns:, **parts, idle_ns:, before_puma_ns: nil)
  end

  # @return [Array<PumaTuner::Probe::ThreadObservation>] that serve no requests, and mostly sleep
  def background
    BACKGROUND.map do |name, *ms|
      cpu_ns, gc_ns, gvl_wait_ns = ms.map { |number| number * MS }
      budget = Probe::Budget.zero.with(wall_ns: 30_000 * MS, queue_ns: nil, cpu_ns:, gc_ns:, gvl_wait_ns:, idle_ns: nil, before_puma_ns: nil,
        sleep_ns: 30_000 * MS - cpu_ns - gc_ns - gvl_wait_ns)
      Probe::ThreadObservation.new(worker_index: nil, name:, requests_count: nil, budget:, run_queue_wait_ns: nil)
    end
  end

  def threads(worker_indexes, count)
    worker_indexes.product((1..count).to_a).map do |worker_index, number|
      shares = THREAD_SHARES.merge(cpu: THREAD_SHARES[:cpu] + number * 0.004, io: THREAD_SHARES[:io] - number * 0.004)
      budget = budget(28_400 * MS, shares, idle_ns: 1_600 * MS).with(queue_ns: nil)
      Probe::ThreadObservation.new(worker_index:, name: Kernel.format("puma srv tp %03d", number), requests_count: 1_497 + number, budget:,
        run_queue_wait_ns: 300 * MS)
    end
  end

  def process(role, worker_index)
    Probe::ProcessObservation.new(role:, worker_index:, pid: 4_000 + worker_index.to_i, requests_count: 7_502, cpu_ns: 15_240 * MS,
      gc_count: 214, rss_bytes: 141 * Units::MIB, pss_bytes: 133 * Units::MIB)
  end

  def server
    Probe::ServerFacts.new(ruby_version: "3.4.5", ruby_description: "ruby 3.4.5 (2025-07-16 revision 20cda200d3) +YJIT +PRISM [x86_64-linux]",
      yjit_enabled: true, puma_version: "8.0.2", rack_version: "3.2.8", thread_timeslice_ms: 100, rack_environment: "production")
  end

  def machine_facts
    Probe::MachineFacts.new(cores_count: 2, cpu_model: "AMD EPYC", cpu_quota_cores: nil, memory_bytes: 8 * 1024 * Units::MIB,
      kernel: "Linux 6.12.0", load_average: 0.31, cpu_pressure_ratio: 0.012)
  end

  def load
    Probe::LoadSummary.new(generator: "wrk 4.2.0", arrivals: "closed", rate_per_s: nil, think_ns: 0, reuse_count: nil, connections_count: 20, duration_ns: 30_002 * MS, requests_count: 7_496,
      unexpected_count: 0, throughput_per_s: 249.8, mean_ns: (79.9 * MS).round, p50_ns: (75.3 * MS).round, p99_ns: (241.0 * MS).round)
  end

  # @return [PumaTuner::Model::Machine]
  def machine
    Model::Machine.new(cores_count: 2, effective_cores: [1.0, 1.96], quota_ns: nil, period_ns: nil, tick_ns: 10 * MS, handoff_ns: 8_000, handoff_busy_ns: 4_000,
      wakeup_idle_ns: [52_000], wakeup_loaded_ns: [80_000], acceptor_cpu_ns: 21_000, reactor_wakeup_cpu_ns: 9_000, reactor_register_cpu_ns: 6_000,
      tail_cpu_ns: 12_000, client_send_cpu_ns: 12_000, client_receive_cpu_ns: 8_000, calibrated: nil)
  end

  # @return [PumaTuner::Model::Workload]
  def workload(**fields)
    demand = Model::Demand.new(bursts_ns: [3 * MS, 2 * MS], waits_ns: [9 * MS], wait_kinds: ["io"], gc_ns: 0)
    total = ENDPOINTS.sum { |row| row[1] }.to_f
    endpoints = ENDPOINTS.map do |name, requests_count, wall_ms, _p50, _p99, shares|
      part_ns = ->(*parts) { (parts.sum { |part| shares.fetch(part, 0) } * wall_ms * MS).round }
      Model::EndpointDemand.new(name:, weight_ratio: requests_count / total, requests_count:, mean_held_ns: part_ns.call(:cpu, :gc),
        mean_wait_ns: part_ns.call(:io, :lock), mean_lock_ns: part_ns.call(:lock), mean_gc_ns: part_ns.call(:gc), demands: [demand] * 60)
    end
    Model::Workload.new(endpoints:, overhead_cpu_ns: 41_000, tail_cpu_ns: 12_000, timeslice_ms: 100, arrivals: closed,
      memory: Model::MemoryDemand.new(shared_bytes: nil, per_worker_bytes: nil, single_bytes: 133 * Units::MIB),
      observed_topology: topology("1x5"), observed_throughput_per_s: 249.8, observed_p50_ns: 75 * MS, observed_p99_ns: 241 * MS,
      puma_version: "8.0.2", ruby_version: "3.4.5",
      unknown: [Unknown.of(:per_worker_bytes, :no_process, role: "worker")], **fields)
  end

  # @return [PumaTuner::Model::Arrivals]
  def closed(connections_count = 20) = Model::Arrivals.closed(connections_count)

  # @param workers [Range]
  # @param threads [Range]
  # @param loads [Array<PumaTuner::Model::Arrivals>] the first is the recording's
  # @param settings [Array<Hash>] of scenarios, beside topology and arrivals
  # @return [PumaTuner::Predict::Sweep]
  def sweep(workers: 1..2, threads: 1..8, loads: [closed], settings: [{}], **fields)
    forecasts = loads.product(settings, workers.to_a, threads.to_a).map do |arrivals, others, *counts|
      forecast(*counts, arrivals:, **others)
    end
    Predict::Sweep.new(forecasts:, today: topology("1x5"), rule_of_thumb_threads_count: 3, arrivals: loads.first, what_if: [], seed: 1,
      seeds_count: 5, requests_count: 2_000, past_error: nil, remarks: [], **fields)
  end

  # @return [PumaTuner::Predict::Sweep] for three loads, of which the third is too much for some topologies; with all that can be said of one
  def wide_sweep(workers: 1..4, threads: 1..8)
    sweep(workers:, threads:, loads: [closed, Model::Arrivals.open(150), Model::Arrivals.open(300, kind: "bursty", burst_count: 4)],
      what_if: ["cpu(GET /articles)*0.7"], past_error: {"throughput" => 0.03, "p99" => 0.061, "checks_count" => 12},
      remarks: ["38 recorded requests of POST /orders are few: 160 more would halve its part in the intervals"])
  end

  # @return [PumaTuner::Predict::Sweep] of searches: one ends at the goal, one where the queue grows, one nowhere, one before it began
  def sweep_of_capacities
    goals = [Goal.read("99% < 200ms")]
    capacities = {1 => [80, 130], 3 => [120, 400], 5 => [140, nil], 8 => [nil, 205]}.map do |threads_count, rates_per_s|
      forecast, failed_forecast = rates_per_s.map { |per_s| per_s && forecast(1, threads_count, arrivals: Model::Arrivals.open(per_s)) }
      Predict::Capacity.new(goals:, judged_by: :high, asked_per_s: 500.0, forecast:, failed_forecast:, tolerance_ratio: 0.02, forecasts_count: 9)
    end
    sweep(loads: [Model::Arrivals.open(90)]).with(forecasts: capacities.filter_map(&:forecast), capacities:)
  end

  # @return [PumaTuner::Predict::Forecast]
  def forecast(workers_count, threads_count, arrivals: closed, **settings)
    one = ONE_WORKER_PER_S.fetch(threads_count - 1, ONE_WORKER_PER_S.last)
    # On two cores: a third worker brings little.
    most_per_s = one * {1 => 1.0, 2 => 1.94}.fetch(workers_count) { 2.0 - 0.01 * workers_count }
    scenario = Predict::Scenario.of(Topology.new(workers_count:, threads_count:), arrivals, **settings)
    return unsteady_forecast(scenario, most_per_s) if arrivals.open? && arrivals.rate_per_s > most_per_s
    per_s = arrivals.open? ? arrivals.rate_per_s : most_per_s
    mean_ns = arrivals.open? ? (11 + 1.9 * (threads_count - 1)) * MS / (1 - per_s / most_per_s) : arrivals.connections_count / per_s * Units::NS_PER_S
    steady_forecast(scenario, per_s, mean_ns)
  end

  # @return [PumaTuner::Predict::SelfCheck] of a model that makes too much of what was recorded at 1x8, and all well of 1x5
  def self_check
    figure = ->(metric, recorded, simulated, beyond_noise) do
      Predict::CheckedFigure.new(metric:, recorded:, simulated: estimate(simulated, 0.02), error_ratio: simulated / recorded - 1, beyond_noise:)
    end
    lock = figure.call("lock", 31.0 * MS, 0.6 * MS, true)
    off = [figure.call("throughput", 160.0, 254.0, true), figure.call("p50", 118.0 * MS, 74.0 * MS, true), figure.call("p99", 240.0 * MS, 251.0 * MS, false), lock]
    well = [figure.call("throughput", 249.8, 247.0, false), figure.call("p50", 75.3 * MS, 76.1 * MS, false), figure.call("p99", 241.0 * MS, 219.0 * MS, false)]
    scenarios = [[1, 5], [1, 8]].map { |counts| Predict::Scenario.of(Topology.from(*counts), closed) }
    cause = PumaTuner::Statement.of(:lock, figure: lock)
    Predict::SelfCheck.new(settings: [[well, nil], [off, cause]].zip(scenarios).map { |(figures, told), scenario| Predict::CheckedSetting.new(scenario:, figures:, cause: told) })
  end

  # @return [PumaTuner::Tuning] whose model misses a recording by so much that its intervals are too wide for any sure gain, and nothing is
  #   recommended
  def tuning_without_trust
    forecasts = sweep.forecasts.map { |one| one.with(throughput_per_s: estimate(one.throughput_per_s.value, 0.5)) }
    predicted = sweep.with(self_check:, forecasts:)
    tuning(sweep: predicted, advice_list: Advise::Advisor.new.call(workload, predicted), verdict: nil)
  end

  def unsteady_forecast(scenario, most_per_s)
    nothing = Predict::Forecast.members.to_h { |member| [member, nil] }
    Predict::Forecast.new(**nothing, scenario:, bottleneck: "threads",
      unsteady: Statement.of(:beyond_capacity, rate_per_s: scenario.arrivals.rate_per_s, capacity_per_s: most_per_s))
  end

  def steady_forecast(scenario, per_s, mean_ns)
    workers_count, threads_count = scenario.topology.to_h.values_at(:workers_count, :threads_count)
    budget = forecast_budget(threads_count, mean_ns)
    Predict::Forecast.new(scenario:, unsteady: nil, throughput_per_s: estimate(per_s, 0.012),
      mean_ns: estimate(mean_ns, 0.012), p50_ns: estimate(mean_ns * 0.94, 0.015), p90_ns: estimate(mean_ns * 1.4, 0.02),
      p99_ns: estimate(mean_ns * (1.9 + 0.16 * threads_count), 0.06), budget:, gvl_wait_ns: estimate(budget.gvl_wait_ns, 0.08), queue_ns: budget.queue_ns,
      slices_per_request: 0.004 * (threads_count - 1), cores_used: per_s * 0.0039, memory_bytes: (workers_count == 1) ? 133 * Units::MIB : nil,
      bottleneck: scenario.arrivals.open? ? "none" : {true => "threads", false => "gvl"}[threads_count < 4],
      closed_forms: closed_forms(workers_count, threads_count, per_s, mean_ns, scenario.arrivals.rate_per_s || Float::INFINITY))
  end

  # What io has left is all the rest.
  def forecast_budget(threads_count, mean_ns)
    parts = {client_ns: 0.4 * MS, gvl_wait_ns: 1.9 * MS * (threads_count - 1), cpu_ns: 3.6 * MS, gc_ns: 0.3 * MS, preempted_ns: 0.1 * MS, lock_ns: 0.6 * MS, sleep_ns: 0.0,
             queue_ns: [mean_ns - 11 * MS * threads_count, 0.0].max}
    io_ns = [mean_ns - parts.values.sum, 0.0].max
    Probe::Budget.new(wall_ns: parts.values.sum + io_ns, **parts, io_ns:)
  end

  # @param most_per_s [Float] all that is asked for
  def closed_forms(workers_count, threads_count, per_s, mean_ns, most_per_s)
    served = {bound_per_s: [workers_count * threads_count * 96.4, workers_count * 256.0].min,
              amdahl_per_s: workers_count * 96.4 / (0.38 + 0.62 / threads_count), mva_per_s: per_s * 1.02, flow_equivalent_per_s: per_s * 1.01,
              cpu_share_per_s: workers_count * [threads_count, 3].min * 96.4}
    Predict::ClosedForms.new(**served.transform_values { |number| [number, most_per_s].min }, flow_equivalent_mean_ns: mean_ns * 0.99)
  end

  # @return [PumaTuner::Stats::Estimate]
  def estimate(value, spread_ratio, samples_count: 5, level_ratio: nil)
    Stats::Estimate.new(value:, low: value * (1 - spread_ratio), high: value * (1 + spread_ratio), level_ratio:, samples_count:)
  end

  # @return [PumaTuner::Advise::AdviceList]
  def advice_list(recommended: "2x3")
    Advise::AdviceList.new(advice: [(recommended == "1x5") ? stay : go, remark], today: topology("1x5"))
  end

  def go
    Advise::Advice.new(rule: "topology", title: say(:go, today: "1x5", advised: "2x3", constraints: nil, throughput_ratio: 1.67), topology: topology("2x3"),
      evidence: [evidence_today, predicted("advised", "2x3", [415, 410, 420], "threads"),
        say(:rule_of_thumb, cpu_ratio: 0.359, threads_count: 3, topology: "2x3", predicted: true, per_s: [415, 410, 420])],
      throughput_ratio: estimate(1.681, 0.024), p50_ratio: estimate(0.595, 0.03), p99_ratio: estimate(0.525, 0.11),
      change: say(:puma_options, topology: "2x3"), cost: say(:slots, slots_counts: [6, 5], workers_counts: [2, 1], memory_bytes: nil), undo: say(:puma_options, topology: "1x5"))
  end

  def stay
    same = Stats::Estimate.new(value: 1.0, low: 1.0, high: 1.0, level_ratio: nil, samples_count: 5)
    go.with(title: say(:stay, today: "1x5"), topology: topology("1x5"), throughput_ratio: same, p50_ratio: same, p99_ratio: same,
      evidence: [evidence_today], change: say(:puma_options, topology: "1x5"), cost: say(:nothing))
  end

  def remark
    Advise::Advice.new(rule: "lock_bound", title: say(:waits_for_locks), topology: nil,
      evidence: [say(:lock_of_endpoint, endpoint: "POST /orders", ratio: 0.351, lock_ns: 17_500_000)],
      throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil, change: say(:lock_less), cost: say(:work_or_less_log), undo: say(:code_or_log_level))
  end

  def say(kind, **facts) = PumaTuner::Statement.of(kind, **facts)

  def evidence_today = predicted("today", "1x5", [247, 244, 250], "gvl")

  def predicted(who, topology, per_s, bottleneck)
    say(:predicted, who:, topology:, per_s:, p50_ns: [75 * MS, 73 * MS, 77 * MS], p99_ns: [241 * MS, 220 * MS, 262 * MS], bottleneck:, seeds_count: 5)
  end

  # @param other [String] the other variant's name
  # @param voided [Boolean] whether the third round was void once
  # @return [PumaTuner::Prove::Verdict]
  def verdict(other: "recommended", other_topology: "2x3", factor: 1.644, voided: true)
    trials = (0...6).flat_map { |round| (voided && round == 2) ? void_round(other) + round_of(round, other, factor) : round_of(round, other, factor) }
    Prove::Verdict.new(baseline: "today", primary: "throughput", metrics:, cells: [cell("today", "1x5", 1), cell(other, other_topology, factor)],
      comparisons: comparisons(other, factor), noise: [], trials:, rounds_count: 6, voided_count: voided ? 2 : 0, looks: [6], level_ratio: 0.95,
      equivalent_ratio: 0.02, stopped_because: Statement.of(:planned_rounds, rounds_count: 6), expectations: [], seed: 1, machine: machine_facts,
      load: Prove::TrialLoad.new(generator: "wrk 4.2.0", connections_count: 20, arrivals: "closed loop", duration_ns: 4_000 * MS),
      started_at: "2026-03-02T10:16:00Z", command: "puma_tuner tune config.ru --requests requests.txt --threads 1..8 --workers 1..2")
  end

  # @return [Array<PumaTuner::Prove::Metric>] those that the rounds of a tuning had
  def metrics = Prove::Metric::SERVED.select { |metric| %w[throughput p50 p99 cpu_per_request pss].include?(metric.name) }

  # @return [PumaTuner::Prove::Verdict] the same settings twice
  def verdict_of_the_same
    verdict(other: "today again", other_topology: "1x5", factor: 1.004, voided: false)
  end

  NOISE = [0.991, 1.012, 1.003, 0.984, 1.008, 0.997].freeze
  OTHER_NOISE = [1.006, 0.998, 0.989, 1.011, 0.995, 1.002].freeze

  def round_of(round, other, factor)
    pair = [trial("today", round, 251.0 * NOISE[round]), trial(other, round, 251.0 * factor * OTHER_NOISE[round])]
    pair.reverse! if round.odd?
    pair.each_with_index.map { |trial, position| trial.with(position:) }
  end

  def void_round(other)
    [trial("today", 2, 219.0), trial(other, 2, 388.0).with(position: 1, void: Prove::Void.failed("2 of 1552 responses had an unexpected status (500: 2)"))]
  end

  def trial(variant, round, throughput_per_s)
    Prove::Trial.new(variant:, round:, position: 0, requests_count: (throughput_per_s * 4).round, conditions: {"pressure_ratio" => 0.02},
      values: {"throughput" => throughput_per_s, "p50" => (18.8 / throughput_per_s * Units::NS_PER_S).round,
               "p99" => (53 / throughput_per_s * Units::NS_PER_S).round, "cpu_per_request" => (3.9 * MS).round, "pss" => 133 * Units::MIB})
  end

  def cell(variant, text, factor)
    forecast = forecast(*text.split("x").map(&:to_i))
    per_s = 251.0 * factor
    estimates = {"throughput" => [per_s, 0.012], "p50" => [18.8 / per_s * Units::NS_PER_S, 0.013], "p99" => [53 / per_s * Units::NS_PER_S, 0.04],
                 "cpu_per_request" => [3.9 * MS, 0.02], "pss" => [133.0 * Units::MIB * ((text == "2x3") ? 1.7 : 1), 0.01]}
    Prove::Cell.new(variant:, factors: {"topology" => text}, topology: topology(text), budget: nil, fingerprint: {}, unsteady_count: 0, remarks: [],
      estimates: estimates.transform_values { |value, spread_ratio| estimate(value, spread_ratio, samples_count: 6) },
      predicted: {"throughput" => forecast.throughput_per_s.value, "p50" => forecast.p50_ns.value, "p99" => forecast.p99_ns.value})
  end

  def comparisons(variant, factor)
    different = factor > 1.02
    latency = different ? :better : :equivalent
    spread_ratio = different ? 0.028 : 0.013
    [["throughput", factor, spread_ratio, 1.681, different ? :better : :equivalent], ["p50", 1 / factor, spread_ratio, 0.595, latency],
      ["p99", 1 / factor, 0.05, 0.525, different ? :better : :not_shown], ["cpu_per_request", 1.006, 0.02, nil, :not_shown]]
      .map do |metric, ratio, spread_ratio, predicted, outcome|
        comparison(variant, metric, ratio, spread_ratio, outcome:, mde_ratio: spread_ratio * 1.2,
          predicted_ratio: predicted && (different ? predicted : 1.0))
      end
  end

  # @return [PumaTuner::Prove::Comparison] in which both intervals say the same, unless told otherwise
  def comparison(variant, metric, ratio, spread_ratio, **fields)
    ratio = estimate(ratio, spread_ratio, samples_count: 6, level_ratio: 0.96875)
    Prove::Comparison.new(variant:, metric:, ratio:, t_ratio: ratio.with(level_ratio: 0.95), p_value: 0.03125,
      adjusted_p_value: (0.0625 unless metric == "throughput"), predicted_ratio: nil, **fields)
  end

  # @return [PumaTuner::Topology]
  def topology(text) = Topology.parse(text)
end
