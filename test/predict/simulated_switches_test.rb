# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/simulating"

# What it costs that threads take turns, threads that are there whatever the load, and Puma without a reactor. By the
# core; its twin takes the same steps (twin_test.rb).
class SimulatedSwitchesTest < TunerTest
  include Builders
  include Simulating

  time_limit 60

  US = 1_000
  SWITCH = {switch_idle_cpu_ns: 100 * US, switch_busy_cpu_ns: 40 * US}.freeze

  def setup = Predict::Engine.ensure_available

  def app(*demands, **options) = workload(endpoints: demands.map { |demand| endpoint_demand(demand) }, **options)

  # After each response the thread looks at its connection, which lets go of the GVL: the other one's turn.
  test "two threads that take turns pay for each burst, by whether a core is idle; one thread never does" do
    burst = app(steps(1), connections_count: 2)
    {["1x2", {}] => 1.1, ["1x2", {cores_count: 1}] => 1.04, ["1x1", {}] => 1.0}.each do |(text, machine_facts), each_ms|
      outcome = simulate(burst, text, on: machine(**SWITCH, **machine_facts))
      assert_in_epsilon 1_000 / each_ms, outcome.throughput_per_s, 1e-6, text
      assert_in_delta each_ms * MS, outcome.means[:cpu], 1, text
      assert_in_epsilon 1, outcome.cores_used, 1e-6, text
    end
  end

  # Two bursts of 1 ms with a wait of 10 ms between them:
  #     A: 0-1           11-12.1
  #     B:   1-2.1          12.1-13.2
  # B's first burst follows A's, A's second follows B's, and B's second A's.
  test "the schedule of two threads, by hand" do
    outcome = simulate_from_start(app(steps(1, ["io", 10], 1), connections_count: 2), "1x2", on: machine(**SWITCH), requests_count: 2, queue_requests: false)
    assert_equal [12.1, 13.2], outcome.latencies_ns.map { |ns| ns.fdiv(MS) }
    assert_in_delta (2.1 + 2.2) / 2 * MS, outcome.means.values_at(:cpu, :gc).sum, 1e-6
    assert_in_delta 0, outcome.means[:preempted], 1e-6
  end

  # One thread, or one request at a time, leaves the core idle for as long as it waits; two that compute in turns for longer than they wait
  # leave it no time to sleep. A wait of 0.1 ms is too short for that.
  test "a burst after a wait in which nobody of its worker computed pays for a cold core" do
    cold = machine(cold_cpu_ns: 300 * US)
    waits = app(steps(1, ["io", 10], 1), connections_count: 1)
    {["1x1", waits] => 2.3, ["1x5", waits] => 2.3, ["1x1", app(steps(1, ["io", 0.1], 1), connections_count: 1)] => 2.0,
     ["1x2", app(steps(10, ["io", 5], 1), connections_count: 2)] => 11.0}.each do |(text, work), cpu_ms|
      assert_in_delta cpu_ms * MS, simulate(work, text, on: cold).means[:cpu], 2, "#{text}: #{cpu_ms} ms"
    end
    seen = waits.with(cold_cpu_ns: 500 * US)
    assert_in_delta 2.5 * MS, simulate(seen, "1x1", on: cold).means[:cpu], 2
  end

  test "the rest of an interrupted burst pays, too" do
    outcome = simulate(app(steps(250), connections_count: 2), "1x2", on: machine(**SWITCH), requests_count: 400)
    assert_in_delta 250 * MS + 0.1 * MS * (1 + outcome.means[:slices]), outcome.means[:cpu], 0.01 * MS
    assert_operator outcome.means[:slices], :>=, 2
  end

  test "acceptor and reactor are no switch, and another worker's threads neither" do
    busy = machine(**SWITCH, acceptor_cpu_ns: 30 * US, reactor_wakeup_cpu_ns: 30 * US, reactor_register_cpu_ns: 30 * US)
    outcome = simulate(app(steps(1, ["io", 1], 1), connections_count: 6, think_ms: 5), "2x1", on: busy)
    assert_equal 2.0 * MS, outcome.means.values_at(:cpu, :gc).sum
    assert_operator outcome.cores_used, :>, 2 * MS * outcome.throughput_per_s / Units::NS_PER_S
  end

  test "what the app was seen to pay goes before what the machine's calibration says" do
    seen = app(steps(1), connections_count: 2, switch_cpu_ns: 300 * US)
    assert_in_delta 1.3 * MS, simulate(seen, "1x2", on: machine(**SWITCH)).means[:cpu], 1
    assert_in_delta 1.04 * MS, simulate(seen, "1x2", on: machine(**SWITCH, cores_count: 1)).means[:cpu], 1
  end

  test "a worker bound to one core pays for each hand-over and switch what a busy machine does" do
    burst = app(steps(1), connections_count: 2)
    slow = machine(handoff_ns: 500 * US, **SWITCH).with(handoff_busy_ns: 10 * US)
    # Each response is followed by the hand-over to the other thread.
    assert_in_epsilon 1_000 / 1.6, simulate(burst, "1x2", on: slow).throughput_per_s, 1e-4
    assert_in_epsilon 1_000 / 1.05, simulate(burst, "1x2", on: slow, affinity: true).throughput_per_s, 1e-4
  end

  test "where no core is idle, a hand-over is work on the one that both threads share, and counts for a quota" do
    burst = app(steps(1), connections_count: 2)
    shared = machine(cores_count: 1, handoff_ns: 100 * US)
    half = {quota_ns: 50 * MS, period_ns: 100 * MS}
    idle = machine(handoff_ns: 100 * US)
    {shared => [1.1, 1.0], shared.with(**half) => [2.2, 0.5], idle => [1.1, 1 / 1.1]}.each do |on, (each_ms, cores)|
      outcome = simulate(burst, "1x2", on:)
      assert_in_epsilon 1_000 / each_ms, outcome.throughput_per_s, 0.02, on.to_s
      assert_in_epsilon cores, outcome.cores_used, 0.02, on.to_s
    end
  end

  # Two workers on one core: what one computes, the other has to wait for.
  test "a call that comes back at once is work on a core; a sleep as short is none" do
    on = machine(cores_count: 1).with(wakeup_idle_ns: [45 * US])
    {"file" => 1.0, "sleep" => 0.2 / 0.24}.each do |kind, cores|
      work = app(steps(0.1, [kind, 0.04], 0.1), connections_count: 1)
      assert_in_epsilon cores, simulate(work, "1x1", on:).cores_used, 0.01, kind
    end
    both = app(steps(0.1, ["file", 0.04], 0.1), connections_count: 8)
    assert_in_epsilon 1_000 / 0.24, simulate(both, "2x1", on:).throughput_per_s, 0.01
  end

  # Each of two threads wants the GVL while the other computes, so that each read hands it over.
  test "a call takes as much more CPU as was seen where its thread hands the GVL over, and none where nobody waits" do
    reads = app(steps(1, ["file", 0.01], 1), connections_count: 2, release_cpu_ns: 30 * US)
    on = machine(cores_count: 4).with(wakeup_idle_ns: [100 * US])
    {"1x2" => 500 * 2.04 / 1_000, "1x1" => 1.0}.each do |text, cores|
      assert_in_delta cores, simulate(reads, text, on:).cores_used, 0.002, text
    end
  end

  # A and B come at 0, and the acceptor hands out A first, which it does for nothing. On one core:
  #     A: 0-1, reads; the acceptor has the GVL, hands out B, and lets go: A has no core
  #     B:        1-2, reads until 2.01, and has the GVL again
  #     A:                   at 2.4 the slice is over; it reads until 2.42, as both compute, and waits for the GVL
  #     B:               2.01-3.02, its answer
  #     A:                         3.02-4.02, its answer
  # With cores to spare, A has read at 1.01, and waits for the GVL until B reads.
  test "who lets go of the GVL for a moment loses the core to its successor, where no other is idle" do
    reads = app(steps(1, ["file", 0.01], 1), connections_count: 2)
    {1 => [[3.02, 4.02], 0.715], 3 => [[3.0, 4.0], 0.01]}.each do |cores_count, (latencies_ms, file_ms)|
      outcome = simulate_from_start(reads, "1x2", on: machine(cores_count:).with(wakeup_idle_ns: [100 * US]), requests_count: 2, queue_requests: false)
      assert_equal latencies_ms, outcome.latencies_ns.map { |ns| ns.fdiv(MS) }, cores_count.to_s
      assert_in_delta file_ms * MS, outcome.means[:file], 1, cores_count.to_s
    end
  end

  # Each hand-over makes the next burst longer, which tells how many there were.
  test "two threads that read on one core hand over once a slice, three hardly more often, and eight at nearly each read" do
    reads = steps(*Array.new(100) { [0.1, ["file", 0.01]] }.flatten(1))
    one_core = machine(cores_count: 1, **SWITCH).with(wakeup_idle_ns: [30 * US])
    hand_overs = lambda do |threads_count, on|
      (simulate(app(reads, connections_count: threads_count), "1x#{threads_count}", on:, requests_count: 500).means[:cpu] - 10 * MS) / (40 * US)
    end
    two, three, eight = [2, 3, 8].map { |count| hand_overs.call(count, one_core) }
    assert_includes 5..15, two
    assert_includes two..50, three
    assert_includes 85..105, eight
    # Another core is idle.
    assert_includes 98..103, hand_overs.call(2, one_core.with(cores_count: 2, effective_cores: [1.0, 2.0], switch_idle_cpu_ns: 40 * US))
  end

  test "the GVL goes by the rule that was seen on the machine, and else by Ruby's version" do
    plan = ->(on, of) { Predict::Plan.new(workload: of, machine: on, scenario: scenario("1x2"), seed: 1, requests_count: 1) }
    rules = ->(on, of: workload) { Predict::Engine.codes[:gvl_rule].key(plan.call(on, of).to_h[:gvl_rule]) }
    seen = machine(gvl_rule: "hot")
    assert_equal %i[fifo hot], [rules.call(machine), rules.call(seen)]
    changed, on = Predict::WhatIf.parse(["ruby=3.2"]).apply(workload, seen)
    assert_equal :barging, rules.call(on, of: changed)
  end

  # Utilisation law: 5 of every 25 ms.
  test "a thread in the background takes its share of the GVL, in each worker, and no request is charged for it" do
    metrics = Model::BackgroundDemand.new(name: "metrics", burst_ns: 5 * MS, gap_ns: 20 * MS)
    still = app(steps(0.001), background: [metrics])
    %w[1x2 2x2].each_with_index do |text, index|
      outcome = simulate(still, text, arrivals: Model::Arrivals.open(20), requests_count: 20_000)
      assert_in_epsilon 0.2 * (index + 1), outcome.cores_used, 0.03, text
      # Who comes by chance meets it with that probability, in the middle on average.
      assert_in_epsilon 0.2 * 2.5 * MS, outcome.mean_ns, 0.1, text
      assert_in_delta 1_000, outcome.means[:cpu], 1, text
    end
    busy = simulate(app(steps(1), background: [metrics], connections_count: 4), "1x4", requests_count: 20_000)
    assert_in_epsilon 1, busy.cores_used, 0.001
    # It lines up like everyone else: three threads of 1 ms are before it.
    assert_in_epsilon 1_000 * 20 / 25.0, busy.throughput_per_s, 0.15
  end

  test "several in the background each have their own rhythm" do
    threads = [[1, 9], [3, 17]].map { |burst_ms, gap_ms| Model::BackgroundDemand.new(name: "thread", burst_ns: burst_ms * MS, gap_ns: gap_ms * MS) }
    outcome = simulate(app(steps(0.001), background: threads), "1x1", arrivals: Model::Arrivals.open(20), requests_count: 20_000)
    assert_in_epsilon 0.1 + 0.15, outcome.cores_used, 0.05
  end

  test "without a reactor each response closes its connection, and each request waits for the acceptor" do
    work = app(steps(["sleep", 10]), connections_count: 4)
    accepting = machine(acceptor_cpu_ns: MS)
    assert_in_epsilon 400, simulate(work, "1x4", on: accepting).throughput_per_s, 0.01
    # Four come at once; the fourth is accepted after 4 ms.
    without = simulate(work, "1x4", on: accepting, queue_requests: false)
    assert_in_epsilon 4_000 / 11.0, without.throughput_per_s, 0.05
    assert_operator without.means[:queue], :>=, MS
  end

  # Puma's own test of PR 3969: a slow request has one worker, and then eight fast ones come at once. The other worker
  # has time for all.
  test "without a reactor, Puma 7 to 8.0.2 accepts what it has no thread for, and others do not" do
    endpoints = [endpoint_demand(steps(["sleep", 2_000]), name: "GET /slow", weight_ratio: 0.05),
      endpoint_demand(steps(["sleep", 1]), name: "GET /fast", weight_ratio: 0.95)]
    seed = seed_of([true, *[false] * 8], first_ratio: 0.05)
    on = machine(wakeup_idle_ns: [20 * US, 40 * US, 60 * US], acceptor_cpu_ns: 40 * US)
    arrivals = Model::Arrivals.replayed([0, MS, *(1..8).map { |index| 100 * MS + index * US }, 10_000 * MS])
    durations_ms = %w[6.6.1 8.0.2 8.0.3].map do |version|
      app = workload(endpoints:).with(puma_version: version)
      outcome = simulate_from_start(app, "2x1", arrivals:, on:, seed:, requests_count: 8, queue_requests: false)
      outcome.duration_ns / MS
    end
    assert_operator durations_ms[1], :>, 1_900
    [durations_ms.first, durations_ms.last].each { |ms| assert_operator ms, :<, 500 }
  end
end
