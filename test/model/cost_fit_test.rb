# frozen_string_literal: true

require "test_helper"
require "support/builders"

class CostFitTest < TunerTest
  include Builders

  ALONE = [1.0, 2.0, 3.0, 4.0].freeze

  def cost(text, cpu_ms, gc_ms: 0, io_ms: 0, switches: 0, releases: switches, colds: 0, busy_cores: 1.0, requests_per_s: 100,
    kernel_ms: nil, handoff_ns: nil)
    Model::Cost.new(topology: topology(text), cpu_ns: cpu_ms * MS, gc_ns: gc_ms && gc_ms * MS, long_gc_ratio: 0.0,
      long_gcs_ns: [], io_ns: io_ms * MS, releases_count: releases, switches_count: switches, colds_count: colds, busy_cores:,
      requests_per_s:, kernel_ns: kernel_ms && kernel_ms * MS, handoff_ns:)
  end

  test "collections are not less at fewer threads than were recorded, and what has no CPU of its own stays so" do
    assert_in_delta 1.0, fit(cost("1x5", 10, gc_ms: 1.0), cost("1x8", 10, gc_ms: 1.6)).gc_ratio(topology("1x1"))
    assert_in_delta 1.0, fit(cost("1x5", 0), cost("1x1", 10)).cpu_ratio(topology("1x1"))
  end

  def fit(*costs, effective_cores: ALONE, **of_machine) = Model::CostFit.new(costs, machine(effective_cores:, **of_machine))

  test "one recording stands for all settings, and tells nothing of switches" do
    one = fit(cost("1x5", 10, gc_ms: 2, switches: 20))
    assert_equal 0, one.switch_cpu_ns
    %w[1x1 1x8 2x3].each { |text| assert_equal [1.0, 1.0], [one.cpu_ratio(topology(text)), one.gc_ratio(topology(text))] }
  end

  test "one recording's switches cost what the machine's do, as long as that is a small part of its CPU" do
    calibrated = fit(cost("1x5", 10, switches: 20), switch_idle_cpu_ns: 50_000)
    assert_equal [50_000, 0.9], [calibrated.switch_cpu_ns, calibrated.cpu_ratio(topology("1x1"))]
    assert_in_delta 2.5 * MS / (201 + 50), fit(cost("1x5", 10, switches: 200), switch_idle_cpu_ns: 50_000).switch_cpu_ns, 1
    assert_in_delta 2.5 * MS / 201.25, fit(cost("1x1", 10, switches: 1, releases: 200), switch_idle_cpu_ns: 50_000).switch_cpu_ns, 1
  end

  test "what a request costs more at several threads is its switches' cost, and the replayed bursts are without it" do
    two = fit(cost("1x5", 14, switches: 21), cost("1x1", 10, switches: 1))
    assert_equal 200_000, two.switch_cpu_ns
    assert_in_delta (14 - 21 * 0.2) / 14, two.cpu_ratio(topology("1x3"))
  end

  test "a switch beside busy cores costs what a worker for each core was seen to pay, else in proportion to the calibration" do
    calibrated = {cores_count: 2, switch_idle_cpu_ns: 40_000, switch_busy_cpu_ns: 10_000}
    assert_equal 10_000, fit(cost("1x5", 10, switches: 20), **calibrated).switch_busy_cpu_ns
    short = fit(cost("1x5", 10, switches: 2000), **calibrated) # of bursts so short that a switch can't have cost 40 µs
    assert_in_delta short.switch_cpu_ns / 4, short.switch_busy_cpu_ns, 1
    alone = [cost("1x5", 14, switches: 21), cost("1x1", 10, switches: 1)]
    assert_equal [200_000, 50_000], fit(*alone, **calibrated).then { |one| [one.switch_cpu_ns, one.switch_busy_cpu_ns] }
    assert_equal 200_000, fit(*alone, cores_count: 2).switch_busy_cpu_ns # nothing is calibrated
    both = fit(*alone, cost("2x5", 12, switches: 21), cost("2x1", 10, switches: 1), **calibrated)
    assert_equal [200_000, 100_000], [both.switch_cpu_ns, both.switch_busy_cpu_ns]
    assert_in_delta 1.0 * (12 - 2.1 + 10 - 0.1) / 2 / 14, both.cpu_ratio(topology("2x3"))
    assert_equal 100_000, fit(cost("2x5", 12, switches: 21), cost("2x1", 10, switches: 1), **calibrated).switch_cpu_ns
  end

  test "what a hand-over takes outside of the GVL, beyond the calibrated one, is seen at several threads, with all cores busy first" do
    on = {cores_count: 2, handoff_ns: 8_000}
    five, one = cost("1x5", 10, switches: 101, kernel_ms: 1.5), cost("1x1", 10, switches: 1, kernel_ms: 0.3)
    full = [cost("2x5", 10, switches: 101, kernel_ms: 1.3), cost("2x1", 10, switches: 1, kernel_ms: 0.3)]
    {[five] => 0, [five, one] => 4_000, [five, one, *full] => 2_000, [five.with(kernel_ns: 0.9 * MS), one] => 0,
     [five.with(kernel_ns: 5.0 * MS), one] => 8_000, [five, one.with(kernel_ns: nil)] => 0}.each do |costs, expected_ns|
      assert_in_delta expected_ns, fit(*costs, **on).release_cpu_ns, 1
    end
    app = workload(endpoints: [endpoint_demand(demand([5, 5], [10]))]).with(costs: [five, one])
    assert_equal 4_000, app.at(topology("1x5"), machine(effective_cores: ALONE, **on)).release_cpu_ns
  end

  test "a hand-over takes as long as was seen with a core idle, no less than was calibrated and no more than to wake up" do
    on = {cores_count: 2, handoff_ns: 8_000, wakeup_idle_ns: [90_000, 20_000, 30_000]}
    {[12_000] => 12_000, [12_000, nil, 14_000] => 13_000, [5_000] => 8_000, [70_000] => 30_000, [nil] => nil}.each do |seen_ns, expected_ns|
      costs = [*seen_ns.map { |ns| cost("1x5", 10, handoff_ns: ns) }, cost("2x5", 10, handoff_ns: 20_000)]
      assert_equal [expected_ns], [fit(*costs, **on).handoff_ns]
    end
  end

  test "a request that is cheaper at several threads has switches that cost nothing" do
    two = fit(cost("1x5", 9, switches: 21), cost("1x1", 10, switches: 1))
    assert_equal 0, two.switch_cpu_ns
    assert_in_delta 9.5 / 9, two.cpu_ratio(topology("1x5"))
  end

  test "what it cost that cores fell asleep is taken out where it was met, as long as that is a small part of the CPU" do
    lone = fit(cost("1x1", 10, colds: 2), cold_cpu_ns: 400_000)
    assert_equal 400_000, lone.cold_cpu_ns
    assert_in_delta 0.92, lone.cpu_ratio(topology("1x5"))
    assert_equal 71_429, fit(cost("1x1", 1, colds: 2), cold_cpu_ns: 400_000).cold_cpu_ns
    assert_equal 0, fit(cost("1x1", 10, colds: 2)).cold_cpu_ns
    # Of what 1x5 takes more, 2 ms are its switches', and not 1.6.
    assert_equal 100_000, fit(cost("1x5", 12, switches: 21), cost("1x1", 10.4, switches: 1, colds: 1), cold_cpu_ns: 400_000).switch_cpu_ns
    app = workload(endpoints: [endpoint_demand(demand([5, 5], [10]))]).with(costs: [cost("1x1", 10, colds: 1)])
    there = app.at(topology("1x5"), machine(effective_cores: ALONE, cold_cpu_ns: 400_000))
    assert_equal [400_000, 9.6 * MS], [there.cold_cpu_ns, there.endpoints.first.mean_held_ns]
  end

  test "an app that collects much takes as much CPU as was seen at that many threads, and nothing is known beyond" do
    collecting = fit(cost("1x1", 6, gc_ms: 4), cost("1x4", 3, gc_ms: 4), cost("1x9", 4, gc_ms: 4))
    {"1x1" => 1.0, "1x4" => 0.5, "1x9" => 4.0 / 6, "1x16" => 4.0 / 6}.each do |text, ratio|
      assert_in_delta ratio, collecting.cpu_ratio(topology(text)), 1e-9, text
    end
    assert_in_delta 13.0 / 18, fit(cost("1x1", 6, gc_ms: 1), cost("1x4", 3, gc_ms: 1), cost("1x9", 4, gc_ms: 1)).cpu_ratio(topology("1x4"))
  end

  test "a setting is like what was recorded in the same kind of process" do
    all = fit(cost("1x5", 10, gc_ms: 4, switches: 10), cost("1x1", 10, gc_ms: 4, switches: 1), cost("2x5", 8, gc_ms: 1, switches: 10))
    assert_equal [0.8, 0.25], [all.cpu_ratio(topology("4x2")), all.gc_ratio(topology("4x2"))]
    assert_equal [1.0, 1.0], [all.cpu_ratio(topology("1x2")), all.gc_ratio(topology("1x2"))]
  end

  test "garbage collection follows the square root of the threads" do
    two = fit(cost("1x1", 10, gc_ms: 2), cost("1x4", 10, gc_ms: 5))
    {"1x1" => 1.0, "1x4" => 2.5, "1x9" => 4.0, "1x16" => 5.5}.each { |text, ratio| assert_in_delta ratio, two.gc_ratio(topology(text)), 1e-9, text }
    lucky = fit(cost("1x1", 10, gc_ms: 5), cost("1x4", 10, gc_ms: 1), cost("1x9", 10, gc_ms: 2))
    {"1x1" => 1.0, "1x4" => 0.2, "1x9" => 0.4, "1x16" => 1.6 / 3}.each { |text, ratio| assert_in_delta ratio, lucky.gc_ratio(topology(text)), 1e-9, text }
    assert_in_delta 1.0, fit(cost("1x1", 10, gc_ms: nil), cost("1x4", 10, gc_ms: 5)).gc_ratio(topology("1x4"))
  end

  test "what a request waits for outside takes as long as it was seen to take, and nothing is known beyond" do
    two = fit(cost("1x1", 10, io_ms: 90), cost("1x4", 10, io_ms: 45))
    {"1x1" => 1.0, "1x4" => 0.5, "1x16" => 0.5, "2x1" => 1.0}.each { |text, ratio| assert_in_delta ratio, two.io_ratio(topology(text)), 1e-9, text }
    assert_in_delta 1 - 0.5 * (Math.sqrt(2) - 1), two.io_ratio(topology("1x2"))
    assert_in_delta 1.0, fit(cost("1x1", 10), cost("1x4", 10, io_ms: 45)).io_ratio(topology("1x4"))
    endpoint = endpoint_demand(demand([1, 1, 1, 1], [40, 0.01, 8], wait_kinds: %w[db file lock]))
    app = workload(endpoints: [endpoint]).with(costs: [cost("1x1", 4, io_ms: 90), cost("1x4", 4, io_ms: 45)])
    there = app.at(topology("1x4"), machine(effective_cores: ALONE)).endpoints.first
    assert_equal [[20 * MS, 10_000, 8 * MS], 28_010_000], [there.demands.first.waits_ns, there.mean_wait_ns]
  end

  test "what cores cost that share is taken out, as the simulation has it by itself" do
    sharing = fit(cost("2x1", 12, gc_ms: 6, busy_cores: 2.0), effective_cores: [1.0, 1.6, 1.6])
    assert_in_delta 1.6 / 2, sharing.cpu_ratio(topology("2x1"))
    assert_in_delta 1.6 / 2, sharing.gc_ratio(topology("2x1"))
    between = fit(cost("2x1", 12, busy_cores: 1.5), effective_cores: [1.0, 1.6, 1.6])
    assert_in_delta 1 / 1.125, between.cpu_ratio(topology("2x1"))
  end

  test "what cores cost that share is taken out by the machine that was recorded, whatever machine is assumed" do
    recorded, fewer = machine(cores_count: 2, effective_cores: [1.0, 1.6]), machine(cores_count: 1, effective_cores: [1.0])
    app = workload(endpoints: [endpoint_demand(demand([9]))]).with(costs: [cost("2x1", 9, busy_cores: 1.5)])
    there = [recorded, fewer].map { |on| app.at(topology("1x1"), on, recorded_on: recorded).endpoints.first }
    assert_equal [8 * MS] * 2, there.map(&:mean_held_ns)
  end

  test "a workload at a setting has the CPU and garbage collection of that setting, and its waits" do
    endpoint = endpoint_demand(demand([6, 4], [5], gc_ms: 2))
    costs = [cost("1x1", 8, gc_ms: 2), cost("2x1", 4, gc_ms: 1)]
    there = workload(endpoints: [endpoint]).with(costs:).at(topology("2x1"), machine(effective_cores: ALONE)).endpoints.first
    assert_equal [[3 * MS, 2 * MS], [5 * MS], 1 * MS], there.demands.first.to_h.values_at(:bursts_ns, :waits_ns, :gc_ns)
    assert_equal [5 * MS, 1 * MS, 0], [there.mean_held_ns, there.mean_gc_ns, there.gc_debt_ns]
  end

  test "bursts keep their order at another setting, and garbage is taken out of the longest, of equals the first" do
    endpoint = endpoint_demand(demand([4, 6, 2, 6], [1, 1, 1], gc_ms: 8))
    costs = [cost("1x1", 10, gc_ms: 8), cost("2x1", 5, gc_ms: 4)]
    there = workload(endpoints: [endpoint]).with(costs:).at(topology("2x1"), machine(effective_cores: ALONE)).endpoints.first
    assert_equal [[2, 4, 1, 2].map { |ms| ms * MS }, 4 * MS], there.demands.first.to_h.values_at(:bursts_ns, :gc_ns)
  end

  test "a long collection is taken out of the request that met it, and all requests bring it about" do
    demands = Array.new(19) { demand([10], gc_ms: 1) } << demand([100], gc_ms: 81)
    endpoint = endpoint_demand(*demands)
    own = cost("1x1", 9.0, gc_ms: 5).with(long_gc_ratio: 0.81, long_gcs_ns: [80 * MS])
    there = workload(endpoints: [endpoint]).with(costs: [own]).at(topology("1x1"), machine(effective_cores: ALONE))
    assert_equal [80 * MS], there.long_gcs_ns
    endpoint_there = there.endpoints.first
    assert_in_delta 0.81 * 5 * MS, endpoint_there.gc_debt_ns, 1
    short_ns = (0.19 * 5 * MS).round # of a mean request, as before
    first, last = endpoint_there.demands.values_at(0, -1)
    assert_equal short_ns, last.gc_ns
    assert_equal [[9 * MS + short_ns], [19 * MS + short_ns]], [first, last].map(&:bursts_ns)
  end

  test "an app that is not seen to have long collections gets none" do
    costs = [cost("1x1", 10, gc_ms: 1), cost("2x1", 10, gc_ms: 1).with(long_gc_ratio: 0.5, long_gcs_ns: [MS])]
    there = workload(endpoints: [endpoint_demand(demand([4], gc_ms: 1))]).with(costs:).at(topology("2x1"), machine(effective_cores: ALONE))
    assert_equal [[], [4 * MS]], [there.long_gcs_ns, there.endpoints.first.demands.first.bursts_ns]
  end

  test "what a request costs more at part load, it costs in proportion to how long the cores it can use are idle" do
    full, part = cost("2x3", 10, busy_cores: 2.0, requests_per_s: 200), cost("2x3", 12, busy_cores: 1.2, requests_per_s: 100)
    one = Model::CostFit.new([full], machine(cores_count: 4, effective_cores: ALONE), part_load: part)
    # At 100/s with half of the CPU; at half of that beyond what was seen; with a third worker on a core of its own more are idle.
    {["2x3", 200] => 1.0, ["2x3", 120] => 1.2, ["2x3", 160] => 1.1, ["2x3", 20] => 1.3, ["3x3", 200] => 1.17, ["1x3", 100] => 1.0}.each do |(text, rate_per_s), ratio|
      assert_in_delta ratio, one.part_load_ratio(topology(text), rate_per_s), 0.005, "#{text} at #{rate_per_s}/s"
    end
  end

  test "how idle the recorded cores were is told by the machine that was recorded, whatever machine is assumed" do
    full, part = cost("2x3", 10, busy_cores: 2.0, requests_per_s: 200), cost("2x3", 12, busy_cores: 1.2, requests_per_s: 100)
    recorded, fewer = machine(cores_count: 2, effective_cores: [1.0, 2.0]), machine(cores_count: 1, effective_cores: [1.0])
    one = Model::CostFit.new([full], fewer, part_load: part, recorded_on: recorded)
    # At 60/s the one core is as idle as the two were at 120/s.
    assert_equal([1.2, 1.0], [60, 200].map { |rate_per_s| one.part_load_ratio(topology("1x3"), rate_per_s) })
  end

  test "where the cores were as idle under the closed loop, part load tells nothing" do
    waiting, part = cost("1x1", 10, busy_cores: 0.3), cost("1x1", 14, busy_cores: 0.2)
    assert_equal 1.0, Model::CostFit.new([waiting], machine(cores_count: 4, effective_cores: ALONE), part_load: part).part_load_ratio(topology("1x1"), 10)
  end
end
