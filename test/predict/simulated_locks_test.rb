# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"
require "support/simulating"

# Locks and pools in the simulation, against theory and against schedules made by hand. By the core;
# its twin takes the same steps (twin_test.rb).
class SimulatedLocksTest < TunerTest
  include Builders
  include Simulating

  time_limit 60

  def setup = Predict::Engine.ensure_available

  def app(*demands, **options) = workload(endpoints: demands.map { |demand| endpoint_demand(demand) }, **options)

  # A lock that is held while the thread waits, for so long on average.
  def held(mean_ms, **options)
    demands = Oracles.exponential(3_000, mean_ms.to_f, Random.new(5)).map { |ms| steps(["acquire", 0], ["db", ms], ["release", 0]) }
    workload(endpoints: [endpoint_demand(*demands)], **options)
  end

  test "a Mutex held while its owner waits: as theory says of a single server" do
    exact = Oracles.repairmen(customers_count: 8, servers_count: 1, think: 20.0, service: 2.0)
    outcome = simulate(held(2, kinds_of_locks: ["mutex"], connections_count: 8, think_ms: 20), "1x8", requests_count: 100_000)
    assert_in_epsilon exact[:throughput] * 1_000, outcome.throughput_per_s, 0.01
    assert_in_epsilon exact[:present] / exact[:throughput] * MS, outcome.mean_ns, 0.02
    assert_in_epsilon outcome.mean_ns - 2 * MS, outcome.means[:lock], 0.02
  end

  test "arrivals by chance, a Mutex always held as long: M/D/1" do
    locked = app(steps(["acquire", 0], ["db", 2], ["release", 0]), kinds_of_locks: ["mutex"])
    outcome = simulate(locked, "1x80", arrivals: Model::Arrivals.open(350), requests_count: 200_000)
    wait_s = Oracles.mg1_wait(350.0, services: [0.002])
    assert_in_epsilon wait_s * Units::NS_PER_S, outcome.means[:lock], 0.05
    assert_in_delta 0, outcome.means[:queue], 1_000
  end

  test "however many threads there are, a lock lets through no more than one after the other" do
    work = app(steps(["acquire", 0], 1, ["db", 8], 1, ["release", 0]), kinds_of_locks: ["monitor"], connections_count: 40)
    [2, 5, 16].each { |threads_count| assert_in_epsilon 100, simulate(work, "1x#{threads_count}").throughput_per_s, 0.01, threads_count.to_s }
    assert_in_epsilon 200, simulate(work, "2x8").throughput_per_s, 0.01 # each worker has its own
  end

  # Whoever unlocks a Mutex goes on computing, and so long the one it woke has neither the GVL nor the lock.
  test "a lock is idle while the one who was woken for it waits for the GVL" do
    work = app(steps(["acquire", 0], ["db", 10], ["release", 0], 1), kinds_of_locks: ["mutex"], connections_count: 10)
    assert_in_epsilon 1_000 / 11.0, simulate(work, "1x5").throughput_per_s, 0.01
  end

  test "a pool of three: as theory says of three servers" do
    exact = Oracles.repairmen(customers_count: 12, servers_count: 3, think: 20.0, service: 10.0)
    outcome = simulate(held(10, kinds_of_locks: [3], connections_count: 12, think_ms: 20), "1x12", requests_count: 100_000)
    assert_in_epsilon exact[:throughput] * 1_000, outcome.throughput_per_s, 0.01
    assert_in_epsilon exact[:present] / exact[:throughput] * MS, outcome.mean_ns, 0.02
    assert_in_epsilon outcome.mean_ns - 10 * MS, outcome.means[:lock], 0.03
  end

  # Measured, Ruby 3.4.5: two threads that each lock a Mutex, sleep 1 ms, unlock it and begin again had it 459 times and
  # once; with Thread.pass in between, 227 times each.
  test "who locks a Mutex again before it lets go of the GVL keeps the others out" do
    turn = [["acquire", 0], ["sleep", 1], ["release", 0]]
    ends_ms = [turn * 100, (turn + [["io", 0]]) * 100].map do |turns|
      outcome = simulate_from_start(app(steps(*turns), kinds_of_locks: ["mutex"], connections_count: 2), "1x2", requests_count: 2, queue_requests: false)
      outcome.latencies_ns.map { |ns| ns / MS }
    end
    assert_equal [[100, 200], [199, 200]], ends_ms
  end

  # Alone they differ in nothing; here the thread that returns a connection wants one again at once.
  test "what is returned to a pool belongs to the first in line; a Mutex is whoever's runs next" do
    turns = Array.new(4) { [["acquire", 0], 1, ["db", 1], 1, ["release", 0]] }.flatten(1)
    pool, mutex = [1, "mutex"].map { |kind| simulate(app(steps(*turns), kinds_of_locks: [kind], connections_count: 2), "1x2").lock_waits.dig(0, 0) }
    assert_in_delta 4, pool, 0.01
    assert_operator mutex, :<, 2
  end

  # All who wait are woken, and who is awake first has it: of seven one, by chance. So the number
  # of turns until a thread has it is geometric, 29.9 of them at the 99th percentile. Who returns
  # it is away for a millisecond, and lines up again.
  test "an unfair pool serves as many as a fair one, in no order" do
    work = ->(kind) { app(steps(["acquire", 0], ["db", 10], ["release", 0], ["db", 1]), kinds_of_locks: [[kind, 1]], connections_count: 8) }
    by_chance = machine(wakeup_idle_ns: (0...1_000).map { |number| number * 500 })
    fair, unfair = %w[pool unfair_pool].map { |kind| simulate(work[kind], "1x8", on: by_chance, requests_count: 40_000) }
    turn_ns = 1e9 / unfair.throughput_per_s
    assert_in_epsilon Math.log(0.01) / Math.log(6 / 7.0), unfair.quantile_ns(0.99) / turn_ns, 0.1
    assert_in_delta 8, fair.quantile_ns(0.99) * fair.throughput_per_s / 1e9, 0.5
    assert_operator unfair.throughput_per_s, :>, fair.throughput_per_s # the connection is idle for the shortest of seven wake-ups
  end

  test "who is given a connection has to wake up first, and the connection is idle until then" do
    work = app(steps(["acquire", 0], ["db", 10], ["release", 0]), kinds_of_locks: [1], connections_count: 4)
    slow = machine(wakeup_idle_ns: [MS])
    assert_in_epsilon 1_000 / 11.0, simulate(work, "1x4", on: slow).throughput_per_s, 0.01
    mutex = work.with(locks: [lock_demand("mutex")])
    assert_in_epsilon 100, simulate(mutex, "1x4", on: slow).throughput_per_s, 0.01
  end

  test "two nested locks: who has the outer one never waits for the inner" do
    request = steps(["acquire", 0], ["db", 4], ["acquire", 1], ["db", 6], ["release", 1], ["release", 0])
    nested = app(request, kinds_of_locks: %w[mutex mutex], connections_count: 5)
    outcome = simulate(nested, "1x5")
    assert_in_epsilon 100, outcome.throughput_per_s, 0.01
    assert_in_delta 1, outcome.lock_waits.dig(0, 0), 0.01
    assert_in_epsilon 40 * MS, outcome.lock_waits.dig(0, 1), 0.01
    assert_equal [0.0, 0.0], outcome.lock_waits[1]
    assert_in_delta outcome.means[:lock], outcome.lock_waits.sum(&:last), 1e-6
  end

  test "two locks hand over hand: one request may be in each" do
    request = steps(["acquire", 0], ["db", 5], ["acquire", 1], ["release", 0], ["db", 5], ["release", 1])
    chain = app(request, kinds_of_locks: %w[mutex mutex], connections_count: 6)
    assert_in_epsilon 200, simulate(chain, "1x6").throughput_per_s, 0.02
  end

  # Two that log (1 ms, and 1 ms with the lock, in whose middle a write takes 1.5 ms) and one that computes, all there
  # at 0; each response closes its connection (queue_requests off), so that no look at it is in the way.
  #
  #     0     the acceptor hands out log A, which begins, and lines up for the GVL
  #     1     A has the lock
  #     1.5   A writes. The acceptor hands out log B, which begins, and then
  #     2.5   B finds the lock taken and waits for it. The acceptor hands out the computing request, which begins
  #     3     A's write is done. It has the lock, and waits for the GVL
  #   100     tenth tick since 2.5: the slice ends, A goes on
  #   100.5   A lets go of the lock and goes on. B lines up for the GVL, behind the computing one
  #   101.5   A's answer; the computing one goes on
  #   200     tenth tick since then. B has the GVL, finds the lock free, and takes it
  #   200.5   B writes, until 202
  #   300     after the next slice A's next request goes first, and
  #   301     finds the lock taken. B goes on
  #   302.5   B's answer
  test "a lock held over a short write, beside one that computes: waits for the lock are waits for the GVL in disguise" do
    log = steps(1, ["acquire", 0], 0.5, ["file", 1.5], 0.5, ["release", 0], 1)
    endpoints = [endpoint_demand(log, name: "GET /log", weight_ratio: 0.5),
      endpoint_demand(steps(5_000), name: "GET /compute", weight_ratio: 0.5)]
    work = workload(endpoints:, connections_count: 3, kinds_of_locks: ["mutex"])
    seed = seed_of([true, true, false, true], first_ratio: 0.5)
    outcome = simulate_from_start(work, "1x3", seed:, requests_count: 2, queue_requests: false)
    assert_equal [101.5, 302.5], outcome.latencies_ns.map { |ns| ns.fdiv(MS) }
    assert_equal [[0.5, 98.0 * MS / 2]], outcome.lock_waits
    gvl_wait_ms = 97 + 99.5 + 99
    parts = outcome.means.slice(:lock, :gvl_wait, :io, :file, :queue).transform_values { |ns| 2 * ns / MS }
    assert_equal({lock: 98.0, gvl_wait: gvl_wait_ms, io: 3.0, file: 3.0, queue: 1.5}, parts)
    assert_equal 6.0 * MS, 2 * outcome.means.values_at(:cpu, :gc).sum
  end

  test "a Monitor can be entered again, and is let go of with the last" do
    work = app(steps(["acquire", 0], ["acquire", 0], ["db", 5], ["release", 0], ["db", 5], ["release", 0]), kinds_of_locks: ["monitor"], connections_count: 4)
    assert_in_epsilon 100, simulate(work, "1x4").throughput_per_s, 0.01
  end

  test "a recording that begins or ends in the middle of a lock keeps nobody out" do
    rate_per_s = ->(*steps) { simulate(app(steps(*steps), kinds_of_locks: ["mutex"], connections_count: 6), "1x6").throughput_per_s }
    assert_in_epsilon 1_000 / 6.0, rate_per_s.call(["db", 4], ["acquire", 0], ["db", 6]), 0.01
    assert_in_epsilon 1_000, rate_per_s.call(["release", 0], ["db", 6]), 0.01
  end

  def in_order(*locks) = steps(*locks.flat_map { |lock| [["acquire", lock], ["db", 2]] }, *locks.reverse.map { |lock| ["release", lock] })

  test "locks taken in opposite orders end the simulation, and are named" do
    [[[0, 1], [1, 0]], [[0, 1], [1, 2], [2, 0]]].each do |orders|
      ring = app(*orders.map { |order| in_order(*order) }, kinds_of_locks: ["mutex"] * orders.size, connections_count: 8)
      assert_equal [*0...orders.size], assert_raises(Predict::Deadlock) { simulate(ring, "1x8") }.locks
      assert_operator simulate(ring, "1x1").throughput_per_s, :>, 100
    end
    same = app(in_order(0, 1), in_order(0, 1), kinds_of_locks: %w[mutex mutex], connections_count: 8)
    assert_in_epsilon 250, simulate(same, "1x8").throughput_per_s, 0.01
  end

  test "a pool is a way into a deadlock only when all its connections are in it" do
    both = [in_order(0, 1), in_order(1, 0)]
    full = app(*both, kinds_of_locks: [2, "mutex"], connections_count: 8)
    assert_equal [0, 1], assert_raises(Predict::Deadlock) { simulate(full, "1x8") }.locks
    # Three threads: at most two have a connection and want the Mutex, and there is a third connection for who has it.
    roomy = app(*both, kinds_of_locks: [3, "mutex"], connections_count: 8)
    assert_operator simulate(roomy, "1x3").throughput_per_s, :>, 100
  end

  test "a background thread that goes on forever does not hide a deadlock" do
    background = [Model::BackgroundDemand.new(name: "metrics", burst_ns: MS, gap_ns: 10 * MS)]
    ring = app(in_order(0, 1), in_order(1, 0), kinds_of_locks: %w[mutex mutex], connections_count: 4, background:)
    assert_raises(Predict::Deadlock) { simulate(ring, "1x4", arrivals: Model::Arrivals.open(200)) }
  end

  test "a forecast says which locks wait for each other, and how long requests wait for which" do
    forecast = lambda do |*demands|
      workload = app(*demands, kinds_of_locks: ["mutex", 2], connections_count: 6)
      Predict::Sweeper.new(workload:, machine:, seed: 1, seeds_count: 2, requests_count: 500).forecast(scenario("1x6"))
    end
    stuck = forecast.call(in_order(0, 1), in_order(1, 0))
    assert_match(/deadlock.*lock 0 and lock 1/, in_words(stuck.unsteady))
    fine = forecast.call(in_order(0, 1))
    assert_equal ["lock 0", "mutex"], fine.lock_waits.first.then { |wait| [wait.name, wait.kind] }
    assert_in_delta fine.budget.lock_ns, fine.lock_waits.sum(&:wait_ns), 1
    assert_equal fine, Predict::Forecast.from_document(JSON.parse(JSON.generate(fine.to_document)))
  end
end
