# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

class FitTest < TunerTest
  include Builders

  def fitted(...) = Model::WorkloadFit.workload(observation(...))

  def unknown(workload, field) = workload.unknown.find { |unknown| unknown.field == field }

  test "an endpoint's demands are its traces, and its means are theirs" do
    traces = [trace("held", 2, "lock", 8, "held", 2, gc_ms: 1), trace("held", 4, "io", 4, "held", 4, gc_ms: 2)] * 15
    endpoint = fitted(endpoints: [endpoint_observation(traces:)]).endpoints.first
    assert_equal 30, endpoint.demands.size
    assert_equal demand([2, 2], [8], wait_kinds: ["lock"], gc_ms: 1), endpoint.demands.first
    assert_equal [6 * MS, 6 * MS, 4 * MS, 1.5 * MS], endpoint.deconstruct_keys(nil).values_at(:mean_held_ns, :mean_wait_ns, :mean_lock_ns, :mean_gc_ns)
  end

  test "endpoints weigh as many requests as they had, not as many as were recorded" do
    workload = fitted(endpoints: [
      endpoint_observation(name: "GET /a", requests_count: 300),
      endpoint_observation(name: "GET /b", requests_count: 100)
    ])
    assert_equal({"GET /a" => 0.75, "GET /b" => 0.25}, workload.endpoints.to_h { |endpoint| [endpoint.name, endpoint.weight_ratio] })
  end

  test "an endpoint without a trace is left out, with the reason" do
    workload = fitted(endpoints: [endpoint_observation, endpoint_observation(name: "GET /rare", traces: [], requests_count: 3)])
    assert_equal ["GET /"], workload.endpoints.map(&:name)
    assert_in_delta 1.0, workload.endpoints.sum(&:weight_ratio)
    assert_equal Unknown.of(:endpoint, :no_trace, whose: "GET /rare", requests_count: 3), unknown(workload, :endpoint)
  end

  test "too few traces are void, and the message says how many requests more it takes" do
    sampled = [endpoint_observation(traces: [trace("held", 1)] * 20, requests_count: 200)]
    assert_match(/only 20 requests.*at least 100 requests more/, assert_raises(InvalidMeasurement) { fitted(endpoints: sampled) }.message)
    none = [endpoint_observation(traces: [], requests_count: 200)]
    assert_match(/only 0 requests.*at least 30 requests more/, assert_raises(InvalidMeasurement) { fitted(endpoints: none) }.message)
  end

  test "without the extension there are no traces, and the message says why, whatever its words" do
    blind = observation(endpoints: [endpoint_observation(traces: [])]).with(unknown: [Unknown.of(:parts, :no_extension, detail: "no compiler")])
    assert_match(/a model needs that: no compiler\z/, assert_raises(InvalidMeasurement) { Model::WorkloadFit.workload(blind) }.message)
  end

  test "requests whose parts miss their wall time are remarked on when they are some, and refused when they are most" do
    unaccounted = ->(count) { fitted(endpoints: [endpoint_observation(requests_count: 100).with(unaccounted_count: count)]) }
    assert_nil unknown(unaccounted.call(5), :budget)
    assert_equal Unknown.of(:budget, :unaccounted, ratio: 0.2), unknown(unaccounted.call(20), :budget)
    assert_match(/60.0% of the requests.*Measure again/, assert_raises(InvalidMeasurement) { unaccounted.call(60) }.message)
    assert_nil unknown(unaccounted.call(nil), :budget)
  end

  test "of a server in development it is unknown what one in production would do, and forecasts say so" do
    limits = %w[development production].map do |rack_environment|
      fitted = Model::WorkloadFit.workload(observation.then { |one| one.with(server: one.server.with(rack_environment:)) })
      Report::Unknowns.of(Predict::Limits.of(fitted, machine)).fetch("environment", nil)
    end
    assert_match(/\Arecorded in development, .* set RAILS_ENV=production/, limits.first)
    assert_nil limits.last
  end

  test "overhead is what the serving processes computed beyond the requests" do
    endpoints = [endpoint_observation(requests_count: 100, budget: {cpu_ns: 150 * MS, gc_ns: 50 * MS})]
    processes = [process_observation(role: "master", cpu_ns: 900 * MS), process_observation(role: "worker", worker_index: 0, cpu_ns: 104 * MS),
      process_observation(role: "worker", worker_index: 1, cpu_ns: 100 * MS)]
    assert_equal 40_000, fitted(endpoints:, processes:).overhead_cpu_ns
    assert_equal 0, fitted(endpoints:, processes: processes.take(2)).overhead_cpu_ns
  end

  test "an overhead that cannot be told is assumed, and said to be" do
    workload = fitted(processes: [process_observation(cpu_ns: nil)])
    assert_equal 35_000, workload.overhead_cpu_ns
    assert_equal Unknown.of(:overhead_cpu_ns, :no_cpu_time, assumed_ns: 35_000), unknown(workload, :overhead_cpu_ns)
  end

  test "companions tell the memory of what the recording was not" do
    workers = Array.new(2) { |index| process_observation(role: "worker", worker_index: index, pss_bytes: 100) }
    cluster = [process_observation(role: "master", pss_bytes: 50), *workers]
      .map { |process| process.with(rss_bytes: process.pss_bytes) }
    companions = [
      observation(topology: topology("1x1"), processes: [process_observation(pss_bytes: 8)]),
      observation(topology: topology("2x5"), processes: cluster),
      observation(topology: topology("2x1"), processes: cluster.map { |process| process.with(pss_bytes: 999) })
    ]
    fit = ->(recording) { Model::WorkloadFit.workload(recording).memory }
    assert_equal Model::MemoryDemand.new(shared_bytes: 50, per_worker_bytes: 100, single_bytes: 7),
      fit.call(observation(processes: [process_observation(pss_bytes: 7)]).with(companions:))
    assert_equal Model::MemoryDemand.new(shared_bytes: 50, per_worker_bytes: 100, single_bytes: 8),
      fit.call(observation(topology: topology("2x5"), processes: cluster).with(companions: companions.first(1)))
  end

  test "a single process tells the memory of a single process only" do
    workload = fitted(processes: [process_observation(pss_bytes: 7)])
    assert_equal Model::MemoryDemand.new(shared_bytes: nil, per_worker_bytes: nil, single_bytes: 7), workload.memory
    assert_equal Unknown.of(:per_worker_bytes, :no_process, role: "worker"), unknown(workload, :per_worker_bytes)
  end

  test "a cluster tells what is shared and what a worker adds" do
    processes = [process_observation(role: "master", pss_bytes: 50), process_observation(role: "worker", worker_index: 0, pss_bytes: 90),
      process_observation(role: "worker", worker_index: 1, pss_bytes: 110)]
    memory = fitted(processes: processes.map { |process| process.with(rss_bytes: process.pss_bytes) }).memory
    assert_equal Model::MemoryDemand.new(shared_bytes: 50, per_worker_bytes: 100, single_bytes: nil), memory
  end

  test "pages that all workers have are not added by another one" do
    # 150 in all five processes, 80 of each worker's own, 10 of the master's.
    processes = [process_observation(role: "master", pss_bytes: 40).with(rss_bytes: 160)] +
      Array.new(4) { |index| process_observation(role: "worker", worker_index: index, pss_bytes: 110).with(rss_bytes: 230) }
    assert_equal Model::MemoryDemand.new(shared_bytes: 160, per_worker_bytes: 80, single_bytes: nil), fitted(processes:).memory
    unread = fitted(processes: processes.map { |process| process.with(rss_bytes: nil) })
    assert_equal [40, 110], [unread.memory.shared_bytes, unread.memory.per_worker_bytes]
    assert_equal :no_rss, unknown(unread, :shared_bytes).cause
  end

  test "cores are busy by what a request takes, whatever came before and after the load, and no more of them than there are" do
    of = lambda do |cores_count|
      served = endpoint_observation(requests_count: 1_200, budget: {cpu_ns: 24_000 * MS}) # 1,000 of them in the load's 10 s
      fitted(endpoints: [served], processes: [process_observation(cpu_ns: 24_000 * MS)], cores_count:).costs.first.busy_cores
    end
    assert_in_delta 2.0, of[4]
    assert_in_delta 1.0, of[1]
  end

  test "CPU without the GVL is what a request used beside its bursts, and unknown where native code computed, known to or not" do
    of = lambda do |kind, cpu_ms|
      traces = [trace("held", 2, kind, 8, cpu_ms:)] * 40
      fitted(endpoints: [endpoint_observation(traces:, budget: {cpu_ns: (40 * cpu_ms * MS).round})]).costs.first.kernel_ns
    end
    assert_in_delta 0.04 * MS, of.call("io", 2.04), 1
    assert_equal [nil, nil], [of.call("compute", 2.04), of.call("io", 7)]
  end

  # 100 requests/s in one process: 10 ms for each, of which somebody has the GVL for 4, and Puma computes for 1 beside them. With five
  # threads that are away for as long as they have it, nobody wants it for 1 / (1 + 5 + 20 + 60 + 120 + 120) of the time.
  test "where somebody nearly always wants the GVL, what nobody has it for is the time of its hand-overs" do
    of = lambda do |text, waited_ms, cpu_ms = 500|
      traces = [trace("held", 2, "io", 1, "gvl_wait", 3, "held", 2, "io", 1)] * 100
      served = endpoint_observation(traces:, budget: {cpu_ns: 400 * MS, gvl_wait_ns: waited_ms * 100 * MS})
      processes = [process_observation(cpu_ns: cpu_ms && cpu_ms * MS)]
      fitted(endpoints: [served], processes:, topology: topology(text)).costs.first.handoff_ns
    end
    assert_in_delta (10 * 325 / 326.0 - 4 - 1) / 3 * MS, of["1x5", 42], 1
    assert_in_delta (10 * 0.9633 - 4 - 1) / 3 * MS, of["1x5", 38], 1_000
    # Away for two and a half times as long, they leave it alone for 7% of the time, though each is away for only 20% of its own.
    assert_equal [nil] * 3, [of["1x5", 36], of["1x1", 6], of["1x5", 42, nil]]
  end

  test "an endpoint that did not come at another setting is taken to cost there what it did here" do
    often, seldom = {"GET /" => 990, "POST /" => 10}.map { |name, count| endpoint_observation(name:, requests_count: count, budget: {cpu_ns: count * MS}) }
    apart = observation(endpoints: [often], topology: topology("1x1"))
    costs = Model::WorkloadFit.workload(observation(endpoints: [often, seldom]).with(companions: [apart])).costs
    assert_equal costs.first.cpu_ns, costs.last.cpu_ns
    elsewhere = observation(endpoints: [seldom.with(name: "GET /other")], topology: topology("1x1"))
    assert_equal 1, Model::WorkloadFit.workload(observation(endpoints: [often]).with(companions: [elsewhere])).costs.size
  end

  test "threads of the app's own are no overhead of its requests" do
    thread = lambda do |name, cpu_ms|
      Probe::ThreadObservation.new(worker_index: nil, name:, requests_count: nil, run_queue_wait_ns: nil,
        budget: Probe::Budget.zero.with(cpu_ns: cpu_ms * MS, gc_ns: 0))
    end
    processes = [process_observation(cpu_ns: 5_000 * MS)]
    alone = fitted(processes:).overhead_cpu_ns
    assert_operator alone, :>, 0
    background = [thread.call("puma reactor", 300), thread.call("monitoring", 200)]
    beside = Model::WorkloadFit.workload(observation(processes:).with(background:))
    assert_equal alone - 200 * MS / observation.requests_count, beside.overhead_cpu_ns
  end

  test "waits without a core are shared out by how often requests wait, whichever of them were recorded" do
    once, twice = trace("held", 2, "io", 8), trace("held", 1, "io", 8, "held", 1, "io", 8)
    endpoints = [endpoint_observation(name: "GET /often", traces: [twice] * 40, requests_count: 900),
      endpoint_observation(name: "GET /seldom", traces: [once] * 40, requests_count: 100)]
    thread = Probe::ThreadObservation.new(worker_index: nil, name: "puma srv tp 001", requests_count: 1_000,
      run_queue_wait_ns: 1_900 * MS, budget: Probe::Budget.zero)
    workload = Model::WorkloadFit.workload(observation(endpoints:).with(threads: [thread]))
    assert_equal [14 * MS, 7 * MS], workload.endpoints.map(&:mean_wait_ns)
  end

  test "resident size does not stand in for PSS" do
    workload = fitted(processes: [process_observation(pss_bytes: nil)])
    assert_nil workload.memory.single_bytes
    assert_equal Unknown.of(:single_bytes, :no_pss, role: "single"), unknown(workload, :single_bytes)
  end

  test "arrivals are the load generator's connections" do
    workload = fitted(load: load_summary(connections_count: 12))
    assert_equal Model::Arrivals.closed(12), workload.arrivals
    assert_equal [100.0, 28 * MS, 60 * MS], [workload.observed_throughput_per_s, workload.observed_p50_ns, workload.observed_p99_ns]
  end

  test "an open load keeps its rate" do
    open_load = load_summary.with(arrivals: "even", rate_per_s: 40, think_ns: 0, reuse_count: 10)
    assert_equal Model::Arrivals.open(40, kind: "even", reuse_count: 10), fitted(load: open_load).arrivals
  end

  test "the options of the recorded Puma are the app's, and those that end connections bound the load's" do
    of = lambda do |load: load_summary, **options|
      Model::WorkloadFit.workload(observation(load:).with(fingerprint: options.to_h { |name, value| [[:puma, name.to_s], value] }))
    end
    assert_equal [nil, nil, nil], of.call.then { |one| [one.queue_requests, one.io_threads_count, one.arrivals.reuse_count] }
    made = of.call(queue_requests: "false", max_io_threads: "2")
    assert_equal [scenario("1x3", made.arrivals, queue_requests: false, io_threads_count: 2)], [Predict::Scenario.as_recorded(made, topology("1x3"))]
    assert_equal [true, nil], of.call(queue_requests: "true", max_keep_alive: "999").then { |one| [one.queue_requests, one.arrivals.reuse_count] }
    assert_equal [1, 20], [{enable_keep_alives: "false", max_keep_alive: "20"}, {enable_keep_alives: "true", max_keep_alive: "20"}].map { |options| of.call(**options).arrivals.reuse_count }
    reused = load_summary.with(reuse_count: 10)
    assert_equal [10, 5], %w[20 5].map { |count| of.call(load: reused, max_keep_alive: count).arrivals.reuse_count }
    assert_equal 20, of.call(load: nil, max_keep_alive: "20").arrivals.reuse_count
  end

  test "without a load of ours, as many requests as were served come by chance, and the reasons are given" do
    endpoints = [endpoint_observation(requests_count: 40), endpoint_observation(name: "GET /b", requests_count: 10)]
    workload = fitted(load: nil, duration_ns: 1_000 * MS, endpoints:)
    assert_equal Model::Arrivals.open(50.0), workload.arrivals
    assert_equal :load_not_ours, unknown(workload, :arrivals).cause
    assert_equal [50.0, nil], [workload.observed_throughput_per_s, workload.observed_p99_ns]
    assert unknown(workload, :observed_p99_ns)
  end

  # @param jobs [Array<Probe::EndpointObservation>] in the same processes
  # @param budget [Hash] of a second at 2x5 on four cores
  def busy(traces: [trace("held", 2, "io", 8)] * 40, jobs: [], **budget)
    endpoints = [endpoint_observation(traces:, budget:)]
    recording = observation(load: nil, topology: topology("2x5"), duration_ns: 1_000 * MS, endpoints:)
    Model::WorkloadFit.workload(recording.with(jobs:, budget: (endpoints + jobs).map(&:budget).reduce(:+)))
  end

  test "without a load of ours, a server that keeps requests waiting has clients who wait, and no rate" do
    queued = ->(ms) { busy(wall_ns: 6_000 * MS, queue_ns: ms * MS) }
    assert_equal Model::Arrivals.closed(6), queued.call(4_000).arrivals
    assert_equal :saturated, unknown(queued.call(4_000), :arrivals).cause
    assert_equal Model::Arrivals.open(40.0), queued.call(2_000).arrivals
  end

  test "without a load of ours, a server whose threads are never free has clients who wait, too" do
    full = ->(ms) { busy(wall_ns: (ms + 1_000) * MS, queue_ns: 1_000 * MS) }
    assert_equal Model::Arrivals.open(40.0), full.call(9_000).arrivals
    assert_equal Model::Arrivals.closed(10), full.call(9_001).arrivals
    assert_equal :saturated, unknown(full.call(9_001), :arrivals).cause
  end

  test "so does one whose processes compute all the time, a core each, or all cores where native code computes" do
    used = ->(ms, **others) { busy(wall_ns: 6_000 * MS, cpu_ns: (ms - 100) * MS, gc_ns: 100 * MS, **others).arrivals }
    assert_equal Model::Arrivals.open(40.0), used.call(1_800)
    assert_equal Model::Arrivals.closed(6), used.call(1_801)
    native = [trace("held", 2, "compute", 8, cpu_ms: 10)] * 40
    assert_equal Model::Arrivals.open(40.0), used.call(3_600, traces: native)
    assert_equal Model::Arrivals.closed(6), used.call(3_601, traces: native)
  end

  # A job of a process that serves as well: no queue of Puma's is its own.
  def job(**budget)
    endpoint_observation(name: "SendMail", traces: []).then { |one| one.with(budget: one.budget.with(queue_ns: nil, **budget)) }
  end

  test "jobs in the same processes take no pool threads, and no place in Puma's queue, but the same cores" do
    waiting = {wall_ns: 6_000 * MS, queue_ns: 4_000 * MS}
    assert_equal Model::Arrivals.open(40.0), busy(wall_ns: 6_000 * MS, jobs: [job(wall_ns: 9_000 * MS)]).arrivals
    assert_equal Model::Arrivals.closed(6), busy(**waiting, jobs: [job(wall_ns: 9_000 * MS)]).arrivals
    assert_equal Model::Arrivals.open(40.0), busy(wall_ns: 9_000 * MS, queue_ns: 1_000 * MS, jobs: [job(wall_ns: 1_000 * MS)]).arrivals
    assert_equal Model::Arrivals.closed(6), busy(wall_ns: 6_000 * MS, cpu_ns: 900 * MS, jobs: [job(wall_ns: 1_000 * MS, cpu_ns: 901 * MS)]).arrivals
  end

  # A long poll, an export or a job that ended in a window of a second.
  def long(name: "GET /export", lasted_ms: 60_000, traces: [trace("held", 2, "io", 8)] * 40, **parts)
    endpoint_observation(name:, traces:, requests_count: 1, budget: {wall_ns: lasted_ms * MS, **parts})
      .with(latency: Probe::Histogram.of([lasted_ms * MS]))
  end

  # A second at 2x5 on four cores.
  def arrivals(*endpoints, jobs: [])
    recording = observation(load: nil, topology: topology("2x5"), duration_ns: 1_000 * MS, endpoints:)
    Model::WorkloadFit.workload(recording.with(jobs:, budget: (endpoints + jobs).map(&:budget).reduce(:+))).arrivals
  end

  test "what began before the window counts for no longer than that, in threads, in cores, in the queue and among clients" do
    usual = ->(**budget) { endpoint_observation(requests_count: 40, budget: {wall_ns: 7_900 * MS, **budget}) }
    assert_equal Model::Arrivals.open(41.0), arrivals(usual.call, long)
    assert_equal Model::Arrivals.closed(9), arrivals(usual.call(wall_ns: 8_100 * MS), long)
    assert_equal Model::Arrivals.open(41.0), arrivals(usual.call(cpu_ns: 700 * MS), long(cpu_ns: 50_000 * MS))
    assert_equal Model::Arrivals.closed(9), arrivals(usual.call(cpu_ns: 900 * MS), long(cpu_ns: 50_000 * MS))
    assert_equal Model::Arrivals.open(40.0), arrivals(usual.call(cpu_ns: 700 * MS), jobs: [long(cpu_ns: 50_000 * MS, traces: [])])
    assert_equal Model::Arrivals.open(41.0), arrivals(usual.call(queue_ns: 3_000 * MS), long(queue_ns: 59_000 * MS))
    assert_equal Model::Arrivals.closed(9), arrivals(usual.call(queue_ns: 4_500 * MS), long)
  end

  test "an endpoint's short requests count in full beside its long ones, and a request of hours like one of minutes" do
    mixed = ->(ms, lasted_ms) do
      short = Array.new(8) { ms * MS }
      endpoint_observation(budget: {wall_ns: short.sum + lasted_ms * MS}).with(latency: Probe::Histogram.of([*short, lasted_ms * MS]))
    end
    [60_000, 36_000_000].each do |lasted_ms|
      assert_equal Model::Arrivals.open(40.0), arrivals(mixed.call(960, lasted_ms))
      assert_equal Model::Arrivals.closed(10), arrivals(mixed.call(960, lasted_ms), long)
    end
  end

  test "what requests were seen to spend, against which forecasts are checked, has nothing of jobs" do
    recorded = ->(*jobs) { busy(wall_ns: 400 * MS, io_ns: 320 * MS, cpu_ns: 80 * MS, jobs:).recorded.first.budget }
    assert_equal recorded.call, recorded.call(job(wall_ns: 9_000 * MS, io_ns: 8_000 * MS, cpu_ns: 1_000 * MS))
  end

  test "GC that was not timed is unknown, with the reason" do
    workload = fitted(endpoints: [endpoint_observation(traces: [trace("held", 1, gc_ms: nil)] * 30)])
    assert_nil workload.endpoints.first.mean_gc_ns
    assert_equal Unknown.of(:mean_gc_ns, :gc_not_timed, whose: "GET /"), unknown(workload, :mean_gc_ns)
  end

  test "a workload outlives its file" do
    workload = fitted(load: nil)
    assert_equal workload, Document.parse(Document.dump(workload), "workload.json", [:workload])
  end

  test "the cores are the machine's, and a quota limits what they do in a period" do
    assert_equal [4, nil], Model::MachineFit.machine(observation(cores_count: 4)).to_h.values_at(:cores_count, :quota_ns)
    limited = Model::MachineFit.machine(observation(cores_count: 4, cpu_quota_cores: 1.5))
    assert_equal [150 * MS, 100 * MS], limited.to_h.values_at(:quota_ns, :period_ns)
    assert_in_delta 1.5, limited.usable_cores
  end

  test "what was calibrated holds, for as many cores as it was measured on" do
    facts = Model::Calibrated.new(calibrated_at: "now", machine_key: "key", ruby_version: "3.4.5", puma_version: "8.0.2", round_trip_ns: 1)
    calibrated = machine(cores_count: 2, effective_cores: [1.0, 1.6, 1.6], handoff_ns: 5, client_cpu_ns: 20).with(calibrated: facts)
    same = Model::MachineFit.machine(observation(cores_count: 2), calibrated:)
    assert_equal [[1.0, 1.6, 1.6], 5, 20], [same.effective_cores, same.handoff_ns, same.client_cpu_ns]
    assert_equal [1.0, 2.0, 3.0], Model::MachineFit.machine(observation(cores_count: 3), calibrated:).effective_cores
    assert_equal Model::MachineFit::TYPICAL.cold_cpu_ns, same.cold_cpu_ns # nothing is calibrated
    assert_equal 7, Model::MachineFit.machine(observation, calibrated: calibrated.with(cold_cpu_ns: 7)).cold_cpu_ns
  end

  test "the GVL's rule that was seen holds for the very build of Ruby it was seen of" do
    described = ->(text) { observation.with(server: server_facts(100).with(ruby_description: text)) }
    calibrated = ->(text) do
      machine.with(gvl_rule: "hot", calibrated: Model::Calibrated.new(calibrated_at: "now", machine_key: "key", ruby_version: "3.4.5", ruby_description: text,
        puma_version: "8.0.2", round_trip_ns: 1))
    end
    rule = ->(observed, seen) { Model::MachineFit.machine(described.call(observed), calibrated: calibrated.call(seen)).gvl_rule }
    build = "ruby 3.4.5 (2025-07-16 revision 20cda200d3)"
    assert_equal "hot", rule.call("#{build} +YJIT +PRISM [x86_64-linux]", "#{build} +PRISM [x86_64-linux]")
    assert_nil rule.call("ruby 3.4.5 (2025-09-01 revision 1234567890) +PRISM [x86_64-linux]", "#{build} +PRISM [x86_64-linux]")
    assert_nil rule.call("ruby 3.4.4 (2025-05-14 revision a38531fd3f) +PRISM [x86_64-linux]", "#{build} +PRISM [x86_64-linux]")
    assert_nil rule.call(build, nil), "an older file, which does not say"
    assert_nil Model::MachineFit.machine(observation).gvl_rule
  end

  test "the recorded Puma is known by what it had" do
    assert_nil fitted.puma_features
    seen = observation.with(server: server_facts(100).with(puma_features: %w[park]))
    assert_equal %w[park], Model::WorkloadFit.workload(seen).puma_features
    assert_equal seen, Document.parse(Document.dump(seen), "observation.json", [:observation])
  end

  test "files of before a Puma's features were looked at are read" do
    [observation, Model::WorkloadFit.workload(observation)].each do |value|
      fields = JSON.parse(Document.dump(value))
      holder = fields.key?("server") ? fields["server"] : fields
      assert holder.key?("puma_features")
      holder.delete("puma_features")
      assert_equal value, Document.parse(JSON.generate(fields), "old.json", [])
    end
  end

  test "clients of the user's own traffic take nothing of these cores" do
    assert_operator Model::MachineFit.machine(observation).client_cpu_ns, :>, 0
    assert_equal 0, Model::MachineFit.machine(observation(load: nil)).client_cpu_ns
  end

  test "a client costs CPU only when it was ours, on this machine" do
    assert_equal 0, Model::MachineFit.machine(observation(load: nil)).client_cpu_ns
    assert_operator Model::MachineFit.machine(observation).client_cpu_ns, :>, 0
  end
end
