# frozen_string_literal: true

require "test_helper"
require "support/builders"

class LockFitTest < TunerTest
  include Builders

  def lock(id, kind: "mutex", place: "app.rb:#{id} in Shop#buy", waits: 3, holds: 100, hold_ms: 800, threads: 5, size: 1)
    Probe::LockObservation.new(id:, kind:, class_name: "Thread::Mutex", place:, size:, threads_count: threads,
      holds_count: holds, hold_ns: hold_ms * MS, waits_count: waits, wait_ns: waits * MS)
  end

  def requests_holding(locks)
    steps = locks.flat_map { |one| ["acquire", one.id * 1e-6, "io", 8, "release", one.id * 1e-6] }
    [trace(*steps, "held", 1)] * 40
  end

  def recorded(*locks, text: "1x5", traces: requests_holding(locks), companions: [])
    observation(topology: topology(text), endpoints: [endpoint_observation(traces:)]).with(locks:, companions:)
  end

  def fit(...) = Model::LockFit.new(recorded(...))

  test "a lock that was waited for is simulated, by its class and place" do
    one = fit(lock(7))
    assert_equal [Model::LockDemand.new(name: "Thread::Mutex at app.rb:7 in Shop#buy", kind: "mutex", servers_count: 1)], one.locks
    assert_equal({7 => 0}, one.places)
    assert_equal [], fit.locks
    assert_equal [], fit(lock(7), traces: [trace("held", 1)] * 40).locks # nobody's who serves requests
  end

  test "a lock that nobody waited for, although somebody should have, is no lock of several threads" do
    assert_equal [], fit(lock(7, waits: 0, hold_ms: 5_000)).locks # half of ten seconds, a hundred times: 40 waits, were it everybody's
    assert_equal [0], fit(lock(7, waits: 0, hold_ms: 10)).places.values # 0.08 waits
    assert_equal [0], fit(lock(7, waits: 0, hold_ms: 5_000), text: "1x1").places.values # with one thread nobody can tell
  end

  test "a companion with more threads tells what a recording with one could not" do
    several = ->(waits) { [recorded(lock(9, place: "app.rb:7 in Shop#buy", waits:, hold_ms: 5_000), text: "1x5")] }
    assert_equal [], fit(lock(7, waits: 0), text: "1x1", companions: several.call(0)).locks
    assert_equal [0], fit(lock(7, waits: 0), text: "1x1", companions: several.call(9)).places.values
  end

  test "a lock that is only taken with a connection in hand is the connection's" do
    pool = lock(1, kind: "pool", size: 3, waits: 0)
    within = trace("held", 1, "acquire", 1e-6, "held", 1, "acquire", 2e-6, "io", 3, "release", 2e-6, "held", 1, "release", 1e-6)
    before = trace("held", 1, "acquire", 2e-6, "io", 3, "release", 2e-6, "acquire", 1e-6, "held", 1, "release", 1e-6)
    assert_equal({1 => 0}, fit(pool, lock(2, waits: 0, hold_ms: 10), traces: [within]).places)
    assert_equal({1 => 0, 2 => 1}, fit(pool, lock(2, waits: 0, hold_ms: 10), traces: [within, before]).places)
    assert_equal 3, fit(pool, traces: [within]).locks.first.servers_count
  end

  def unknown_locks(observation) = Model::WorkloadFit.workload(observation).unknown.select { |unknown| unknown.field == :locks }

  test "waits for locks that nobody watched are told about, when they are many" do
    unwatched = ->(lock_ms) { observation(endpoints: [endpoint_observation(budget: {wall_ns: 100 * MS, lock_ns: lock_ms * MS})]) }
    assert_equal [Unknown.of(:locks, :waits_not_watched, ratio: 0.3)], unknown_locks(unwatched.call(30))
    assert_empty unknown_locks(unwatched.call(1))
    assert_empty unknown_locks(unwatched.call(30).with(locks: []))
  end

  test "a wait for a lock that is simulated is contention, and none of the request's own" do
    steps = ["held", 2, "acquire", 7e-6, "held", 0.01, "lock", 30, "gvl_wait", 5, "held", 1, "file", 0.1,
      "gvl_wait", 20, "held", 1, "release", 7e-6, "held", 1, "lock", 4, "held", 1]
    demand = Model::DemandFit.demand(trace(*steps), locks: {7 => 0})
    assert_equal [%w[acquire file release lock], [0, 100_000, 0, 4 * MS]], [demand.wait_kinds, demand.waits_ns]
    assert_equal [2 * MS, 1_010_000, 1 * MS, 1 * MS, 1 * MS], demand.bursts_ns
    unknown = Model::DemandFit.demand(trace(*steps), locks: {})
    assert_equal [%w[lock file lock], [30 * MS, 100_000, 4 * MS]], [unknown.wait_kinds, unknown.waits_ns]
  end

  test "threads of the app's own are simulated by how often they took the GVL" do
    thread = ->(name, cpu_ms, cycles_count) do
      Probe::ThreadObservation.new(worker_index: nil, name:, requests_count: nil, run_queue_wait_ns: nil, cycles_count:,
        budget: Probe::Budget.zero.with(cpu_ns: cpu_ms * MS, gvl_wait_ns: 500 * MS))
    end
    threads = [thread.call("metrics", 1_000, 50), thread.call("puma reactor", 900, 9), thread.call("hardly", 9, 9),
      thread.call("uncounted", 900, nil)]
    assert_equal [Model::BackgroundDemand.new(name: "metrics", burst_ns: 20 * MS, gap_ns: 170 * MS)],
      Model::WorkloadFit.workload(observation.with(background: threads)).background
  end

  test "threads of one name are as many as lived, each with its own bursts and gaps" do
    workers = Probe::ThreadObservation.new(worker_index: nil, name: "worker-#", requests_count: nil, run_queue_wait_ns: nil, cycles_count: 40,
      budget: Probe::Budget.zero.with(cpu_ns: 4_000 * MS, gvl_wait_ns: 16_000 * MS, sleep_ns: 19_900 * MS, wall_ns: 39_900 * MS))
    demand = ->(thread) { Model::WorkloadFit.workload(observation.with(background: [thread])).background.first }
    assert_equal Model::BackgroundDemand.new(name: "worker-#", burst_ns: 100 * MS, gap_ns: 500 * MS, threads_count: 4), demand.call(workers)
    assert_equal 1, demand.call(workers.with(cycles_count: 1)).threads_count, "it slept for longer than the window"
  end
end
