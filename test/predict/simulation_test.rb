# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/oracles"
require "support/simulating"

# The simulation against what theory knows exactly. By the core; its twin takes the same steps (twin_test.rb).
class SimulationTest < TunerTest
  include Builders
  include Simulating

  time_limit 60

  test "the same seed gives the same outcome, another seed another" do
    workload = workload(endpoints: [exponential_endpoint(2, 5, 1)])
    assert_equal simulate(workload, "2x3"), simulate(workload, "2x3")
    refute_equal simulate(workload, "2x3").latencies_ns, simulate(workload, "2x3", seed: 2).latencies_ns
  end

  test "an undisturbed request takes what it demands; Puma's own work after the response keeps the thread" do
    outcome = simulate(workload(connections_count: 1).with(tail_cpu_ns: MS), "1x1")
    assert_equal [22 * MS], outcome.latencies_ns.uniq # as the next request waits for the thread
    assert_in_delta 1_000 / 22.0, outcome.throughput_per_s, 0.01
    assert_in_delta 7 / 22.0, outcome.cores_used, 0.001
  end

  test "days of computing are no more than the running total of the cores holds" do
    outcome = simulate(workload(endpoints: [endpoint_demand(demand([200_000]))], connections_count: 2), "2x1")
    outcome.latencies_ns.minmax.each { |ns| assert_includes 200_000 * MS..400_000 * MS, ns }
  end

  test "a wait that is shorter than any wake-up is a system call that came back on its core; a longer one may find that core taken" do
    late = machine(cores_count: 2).with(wakeup_idle_ns: [MS / 50], wakeup_loaded_ns: [MS])
    lateness_ns = lambda do |wait_ms|
      outcome = simulate(workload(endpoints: [endpoint_demand(demand([4, 4], [wait_ms]))], connections_count: 8), "2x1", on: late)
      outcome.means[:io] - wait_ms * MS
    end
    assert_in_delta 0, lateness_ns.call(0.01), 1
    assert_operator lateness_ns.call(1), :>, 0.1 * MS
  end

  test "who waited for the GVL takes the core that has just been left" do
    taken = ->(loaded_ms) { machine(cores_count: 2).with(wakeup_idle_ns: [MS / 50], wakeup_loaded_ns: [loaded_ms * MS]) }
    uneven = workload(endpoints: [endpoint_demand(*(1..9).map { |ms| demand([ms, 10 - ms], [0.01]) })], connections_count: 8)
    throughput_per_s = ->(text, loaded_ms) { simulate(uneven, text, on: taken.call(loaded_ms)).throughput_per_s }
    %w[1x2 2x2].each { |text| assert_in_epsilon throughput_per_s.call(text, 0), throughput_per_s.call(text, 1), 0.005 }
  end

  test "one of several threads that rested may meet another worker's on its core, unless the workers are bound to theirs" do
    computing = workload(endpoints: [endpoint_demand(demand([5]))])
    gvl_wait_ns = lambda do |text, affinity|
      simulate(computing, text, on: machine(cores_count: 2), arrivals: Model::Arrivals.open(200), affinity:).means[:gvl_wait]
    end
    assert_operator gvl_wait_ns.call("2x3", false), :>, gvl_wait_ns.call("2x3", true) + 0.2 * MS
  end

  test "a long collection comes after so many requests, whoever they are, and to nobody before" do
    collecting = workload(endpoints: [endpoint_demand(demand([2, 4], [1])).with(gc_debt_ns: 8 * MS)], connections_count: 1).with(long_gcs_ns: [80 * MS])
    outcome = simulate(collecting, "1x1", requests_count: 1_000)
    assert_equal({7 => 900, 87 => 100}, outcome.latencies_ns.map { |ns| ns / MS }.tally)
    assert_in_delta 8 * MS, outcome.means[:gc], 1
    assert_in_delta 6 * MS, outcome.means[:cpu], 1
    half = simulate(collecting, "2x1", arrivals: Model::Arrivals.closed(2), requests_count: 1_000)
    assert_in_delta 100, half.latencies_ns.count { |ns| ns > 80 * MS }, 2
  end

  test "one GVL, requests of one burst: as theory says of a single server" do
    exact = Oracles.repairmen(customers_count: 8, servers_count: 1, think: 20.0, service: 2.0)
    outcome = simulate(workload(endpoints: [exponential_endpoint(2)], connections_count: 8, think_ms: 20), "1x8", requests_count: 100_000)
    assert_in_epsilon exact[:throughput] * 1_000, outcome.throughput_per_s, 0.01
    assert_in_epsilon exact[:present] / exact[:throughput] * MS, outcome.mean_ns, 0.02
    assert_in_epsilon outcome.mean_ns - 2 * MS, outcome.means[:gvl_wait] + outcome.means[:queue], 0.02
  end

  test "a few threads that only wait: as theory says of as many servers" do
    exact = Oracles.repairmen(customers_count: 12, servers_count: 3, think: 20.0, service: 10.0)
    outcome = simulate(workload(endpoints: [exponential_endpoint(0, 10, 0)], connections_count: 12, think_ms: 20), "1x3", requests_count: 100_000)
    assert_in_epsilon exact[:throughput] * 1_000, outcome.throughput_per_s, 0.01
    assert_in_epsilon exact[:present] / exact[:throughput] * MS, outcome.mean_ns, 0.02
    assert_in_epsilon outcome.mean_ns - 10 * MS, outcome.means[:queue], 0.03
  end

  test "arrivals by chance, one server: M/M/1" do
    outcome = simulate(workload(endpoints: [exponential_endpoint(2)]), "1x1", arrivals: Model::Arrivals.open(350), requests_count: 400_000)
    assert_in_epsilon 350, outcome.throughput_per_s, 0.01
    assert_in_epsilon Oracles.mm1_latency(350.0, service: 0.002) * Units::NS_PER_S, outcome.mean_ns, 0.04
    assert_in_epsilon Oracles.mm1_latency_quantile(0.99, 350.0, service: 0.002) * Units::NS_PER_S, outcome.quantile_ns(0.99), 0.06
  end

  test "arrivals by chance, several servers: M/M/c" do
    outcome = simulate(workload(endpoints: [exponential_endpoint(0, 10, 0)]), "1x4", arrivals: Model::Arrivals.open(320), requests_count: 400_000)
    assert_in_epsilon Oracles.mmc_wait(320.0, service: 0.01, servers_count: 4) * Units::NS_PER_S, outcome.means[:queue], 0.05
  end

  test "long bursts that take short turns: M/G/1 with a shared processor, to which only the mean matters" do
    random = Random.new(3)
    long = endpoint_demand(*(1..3_000).map { demand([(random.rand < 0.8) ? 100 : 1_100]) })
    outcome = simulate(workload(endpoints: [long]), "1x60", arrivals: Model::Arrivals.open(1.6), requests_count: 60_000, timeslice_ms: 10)
    assert_in_epsilon Oracles.mg1_ps_latency(1.6, service: long.mean_held_ns.fdiv(Units::NS_PER_S)) * Units::NS_PER_S, outcome.mean_ns, 0.06
  end

  test "one burst after the other: M/G/1 first come, first served" do
    random = Random.new(3)
    mixed = endpoint_demand(*(1..3_000).map { demand([(random.rand < 0.9) ? 1 : 20]) })
    outcome = simulate(workload(endpoints: [mixed]), "1x1", arrivals: Model::Arrivals.open(200), requests_count: 400_000)
    wait_s = Oracles.mg1_wait(200.0, services: mixed.demands.map { |demand| demand.cpu_ns.fdiv(Units::NS_PER_S) })
    assert_in_epsilon wait_s * Units::NS_PER_S, outcome.means[:queue], 0.06
  end

  test "bursts and waits in turn: as exact mean value analysis says" do
    mixed = workload(endpoints: [exponential_endpoint(2, 6, 2, 9, 2)], connections_count: 5)
    exact = Predict::Queueing.mva(5, service: 0.006, delay: 0.015).last
    assert_in_epsilon exact, simulate(mixed, "1x5", requests_count: 100_000).throughput_per_s, 0.01
  end

  test "waits that queue for servers of their own: as theory says of these" do
    waits = workload(endpoints: [exponential_endpoint(0, 10, 0)], connections_count: 12, think_ms: 20)
    exact = Oracles.repairmen(customers_count: 12, servers_count: 3, think: 20.0, service: 10.0)
    outcome = simulate(waits, "1x12", requests_count: 100_000, stations: [Predict::Station.new(kind: "io", servers_count: 3)])
    assert_in_epsilon exact[:throughput] * 1_000, outcome.throughput_per_s, 0.01
  end

  # Two requests take turns at the one server, so that neither ever waits for it: each is done in 20 ms.
  test "IO that comes back at once, such as a line of a log, does not queue with what waits for a response" do
    endpoints = [endpoint_demand(steps(["sleep", 5], ["io", 0.01], ["sleep", 5], ["io", 10]))]
    stations = [Predict::Station.new(kind: "io", servers_count: 1)]
    outcome = simulate(workload(endpoints:, connections_count: 2), "1x2", stations:)
    assert_in_epsilon 100, outcome.throughput_per_s, 0.01
  end

  test "connections are what is under way and what thinks: Little's law" do
    endpoints = [exponential_endpoint(2, 6, 1)]
    %w[1x1 1x4 2x2 4x3].product([0, 15]).each do |text, think_ms|
      outcome = simulate(workload(endpoints:, connections_count: 10, think_ms:), text, requests_count: 20_000, on: machine(cores_count: 2))
      assert_in_epsilon 10, outcome.throughput_per_s * (outcome.mean_ns + think_ms * MS) / Units::NS_PER_S, 0.01, text
    end
  end

  test "IO of all kinds is IO, and each kind may queue for servers of its own" do
    kinds = %w[io db redis http file]
    outcome = simulate(workload(endpoints: [endpoint_demand(steps(*kinds.map { |kind| [kind, 2] }))], connections_count: 1), "1x1")
    assert_equal [10 * MS, 10.0 * MS], [outcome.latencies_ns.uniq, outcome.means[:io]].flatten
    kinds.each do |kind|
      waits = workload(endpoints: [endpoint_demand(steps(["db", 1], [kind, 10]))], connections_count: 6)
      outcome = simulate(waits, "1x6", stations: [Predict::Station.new(kind:, servers_count: 2)])
      assert_in_epsilon 200, outcome.throughput_per_s, (kind == "db") ? 0.2 : 0.01, kind
    end
  end

  test "a request's time is the sum of its parts, whatever it meets" do
    busy = machine(cores_count: 2, client_cpu_ns: 100_000, handoff_ns: 9_000, wakeup_idle_ns: [40_000],
      wakeup_loaded_ns: [900_000], reactor_wakeup_cpu_ns: 20_000)
    parts = Probe::Parts::WALL
    [Model::Arrivals.closed(12), Model::Arrivals.open(150), Model::Arrivals.open(150, kind: "bursty", burst_count: 5)].each do |arrivals|
      outcome = simulate(workload(endpoints: [exponential_endpoint(2, 6, 1)]), "3x3", arrivals:, on: busy)
      assert_in_delta outcome.mean_ns, parts.sum { |part| outcome.means.fetch(part) }, 1.0
    end
  end

  test "more workers than cores get the cores and no more" do
    outcome = simulate(workload(endpoints: [endpoint_demand(demand([10]))], connections_count: 40), "4x1", on: machine(cores_count: 2))
    assert_in_epsilon 200, outcome.throughput_per_s, 0.02
    assert_in_epsilon 2, outcome.cores_used, 0.02
    assert_operator outcome.means[:preempted], :>, 8 * MS
  end

  test "a quota of half a core is half a core" do
    limited = machine(cores_count: 2, quota_ns: 50 * MS, period_ns: 100 * MS)
    outcome = simulate(workload(endpoints: [endpoint_demand(demand([10]))], connections_count: 8), "2x2", on: limited)
    assert_in_epsilon 50, outcome.throughput_per_s, 0.02
  end

  test "a client on the same cores takes its part of them" do
    outcome = simulate(workload(endpoints: [endpoint_demand(demand([3]))], connections_count: 4), "1x4", on: machine(cores_count: 1, client_cpu_ns: MS))
    assert_in_epsilon 250, outcome.throughput_per_s, 0.01
    assert_in_epsilon 0.75, outcome.cores_used, 0.01
  end

  test "native code that computes without the GVL takes a core and no GVL" do
    hashing = workload(endpoints: [endpoint_demand(demand([0, 0], [10], wait_kinds: ["compute"]))], connections_count: 8)
    outcome = simulate(hashing, "1x8", on: machine(cores_count: 4))
    assert_in_epsilon 400, outcome.throughput_per_s, 0.02
    assert_in_epsilon 4, outcome.cores_used, 0.02
    # Eight on four cores: as long without one as with one.
    assert_equal [10.0 * MS, 0.0, 0.0], outcome.means.values_at(:cpu, :io, :gvl_wait)
    assert_in_epsilon 10 * MS, outcome.means[:preempted], 0.02
  end

  test "endpoints come by their weight, and bring their whole requests" do
    endpoints = [endpoint_demand(demand([1]), name: "GET /a", weight_ratio: 0.8), endpoint_demand(demand([6]), name: "GET /b", weight_ratio: 0.2)]
    latencies_ns = simulate(workload(endpoints:, connections_count: 1), "1x1").latencies_ns
    assert_equal [MS, 6 * MS], latencies_ns.uniq
    assert_in_delta 0.8, latencies_ns.count(MS).fdiv(2_000), 0.03
  end

  # One thread, so that a latency is the time of all 20 connections' requests: as many slow ones among them as the binomial distribution
  # says (of 20, one in five: no more than 4 with 63%, than 6 with 91%, than 7 with 97%). In turn it would be four, always.
  test "slow requests come by chance, and not in turn" do
    fifth = workload(endpoints: [endpoint_demand(*[demand([2])] * 4, demand([2, 0], [10]))], connections_count: 20)
    outcome = simulate(fifth, "1x1", requests_count: 40_000)
    assert_equal [80, 110], [0.5, 0.95].map { |ratio| outcome.quantile_ns(ratio).fdiv(MS).round }
  end

  test "a resample of the recorded requests is another one for each seed" do
    spread = workload(endpoints: [endpoint_demand(*Array.new(30) { |index| demand([index + 1]) })], connections_count: 1)
    means = ->(resample) { (1..20).map { |seed| simulate(spread, "1x1", seed:, resample:).mean_ns } }
    deviation = ->(values) { Math.sqrt(values.sum { |value| (value - values.sum / values.size)**2 } / values.size) }
    # Mean 15.5 ms, deviation 8.66; of 30 drawn with replacement 1.58.
    assert_in_delta 1.58 * MS, deviation.call(means.call(true)), 0.7 * MS
    assert_operator deviation.call(means.call(false)), :<, 0.5 * MS
  end

  test "threads beyond the minimum begin when there is something to do" do
    waits = workload(endpoints: [endpoint_demand(demand([0, 0], [10]))], connections_count: 8)
    assert_in_epsilon 400, simulate(waits, "1x4", min_threads_count: 1).throughput_per_s, 0.02
  end

  test "threads whose request is marked as bound to I/O do not count" do
    waits = workload(endpoints: [endpoint_demand(demand([0, 0], [10]))], connections_count: 20)
    assert_in_epsilon 200, simulate(waits, "1x2").throughput_per_s, 0.02
    assert_in_epsilon 500, simulate(waits, "1x2", io_threads_count: 3).throughput_per_s, 0.05
  end

  test "groups of arrivals queue longer than single ones of the same rate" do
    work = workload(endpoints: [endpoint_demand(demand([2]))])
    arrivals = [Model::Arrivals.open(200), Model::Arrivals.open(200, kind: "bursty", burst_count: 8)]
    single, grouped = arrivals.map { |arrivals| simulate(work, "1x5", arrivals:, requests_count: 20_000) }
    assert_in_epsilon 200, grouped.throughput_per_s, 0.05
    assert_operator grouped.mean_ns, :>, 2 * single.mean_ns
  end

  test "arrivals are replayed over and over" do
    replayed = Model::Arrivals.replayed([0, 10 * MS, 30 * MS, 60 * MS])
    outcome = simulate(workload(endpoints: [endpoint_demand(demand([1]))]), "1x1", arrivals: replayed, requests_count: 400)
    # Four gaps in 90 ms.
    assert_in_epsilon 4 / 0.09, outcome.throughput_per_s, 0.01
    assert_in_epsilon 4 / 0.09, replayed.rate_per_s, 1e-9
    assert_in_epsilon replayed.times(2).rate_per_s, replayed.rate_per_s * 2, 1e-6
  end

  test "requests find no connection beyond the most that may be open, and wait from the intended instant" do
    slow = workload(endpoints: [endpoint_demand(demand([0, 0], [50]))])
    free, held = [100, 2].map { |connections_count| simulate(slow, "1x10", arrivals: Model::Arrivals.open(39, connections_count:), requests_count: 10_000) }
    assert_in_epsilon 50 * MS, free.mean_ns, 0.01
    assert_operator held.mean_ns, :>, 150 * MS
    assert_in_epsilon held.mean_ns - 50 * MS, held.means[:client], 0.02
  end

  test "a simulation in which time hardly goes on is given up" do
    restless = Model::BackgroundDemand.new(name: "metrics", burst_ns: 0, gap_ns: 1)
    app = workload(endpoints: [endpoint_demand(demand([1, 1], [3_600_000]))], background: [restless])
    message = assert_raises(UsageError) { simulate(app, "1x2", requests_count: 10) }.message
    assert_match(/\Anothing can be predicted: a simulation takes more than 8000000 steps, as of threads that hardly rest \(leave them out/, message)
  end

  test "what 64 bits do not hold, and more threads and clients than there can be, are refused before anything is simulated" do
    taking = ->(*steps_ms) { workload(endpoints: [endpoint_demand(demand(*steps_ms))]) }
    resting = Model::BackgroundDemand.new(name: "cron", burst_ns: 1, gap_ns: 2**51)
    {taking.call([36_000_000]) => /requests that take 36000 s/, taking.call([1, 1], [2_000_000_000]) => /requests that take 2000000 s/,
     workload(background: [resting]) => /a model whose gap_ns is #{2**51}/,
     workload.with(long_gcs_ns: [2**46]) => /a model whose long_gcs_ns is #{2**46}/,
     workload.with(arrivals: Model::Arrivals.open(1e-9)) => /a model whose gap_ns is/,
     workload(think_ms: 10**12) => /a model whose think_ns is/, workload(connections_count: 20_000) => /20000 connections/}.each do |app, words|
      assert_match(words, assert_raises(UsageError, words.source) { simulate(app, "1x2") }.message)
    end
    assert_match(/1000000 threads/, assert_raises(UsageError) { simulate(workload, "1000x1000") }.message)
  end

  test "a plan by hand that nothing could run is refused" do
    plan = Predict::Plan.new(workload:, machine:, scenario: scenario("2x2"), seed: 1, requests_count: 10).to_h
    assert_equal 10, Predict::Core.run(plan)[:count]
    [{cores_count: 0}, {overload_factor: 0}, {threads_max: 0}].each { |nonsense| assert_raises(ArgumentError) { Predict::Core.run({**plan, **nonsense}) } }
  end
end
