# frozen_string_literal: true

require "test_helper"
require "support/builders"

# Held against a server whose queueing has a formula: each worker is an M/M/1 of 100 requests/s, its p99 is
# ln(100) / (µ - λ), and an interval reaches 1% to both sides.
class SizerTest < TunerTest
  include Builders

  SERVICE_PER_S = 100.0
  GOAL = Goal.read("99% < 200ms")

  # The highest rate of a worker at which the goal is met with its margin.
  WORKER_PER_S = SERVICE_PER_S - Math.log(100) * 1.01 / 0.2

  def cell(scenario)
    workers_count, arrivals = scenario.topology.workers_count, scenario.arrivals
    rate_per_s = arrivals.open? ? arrivals.rate_per_s / workers_count : 50.0
    fields = {memory_bytes: 100 << 20, arrivals:}
    fields[:memory_bytes] *= workers_count
    capacity_per_s = workers_count * SERVICE_PER_S
    if rate_per_s >= SERVICE_PER_S
      unsteady = forecast(scenario.topology.to_s, capacity_per_s, **fields)
      return unsteady.with(unsteady: "the queue grows", throughput_per_s: nil, p50_ns: nil, p90_ns: nil, p99_ns: nil, cores_used: nil)
    end
    forecast(scenario.topology.to_s, rate_per_s * workers_count, p99_ms: Math.log(100) / (SERVICE_PER_S - rate_per_s) * 1_000, **fields)
      .with(closed_forms: forecast("1x1", 1).closed_forms.with(bound_per_s: [capacity_per_s, arrivals.rate_per_s].compact.min))
  end

  # @param texts [Array<String>] topologies, today's first
  # @return [Advise::Sizing]
  def sizing(*texts, arrivals: Model::Arrivals.open(50), goals: [GOAL], **limits)
    forecaster = self
    scenarios = texts.map { |text| scenario(text, arrivals) }
    sweeper = Object.new
    sweeper.define_singleton_method(:forecast) { |scenario| forecaster.cell(scenario) }
    # Rules ask what else would do; nothing would change here.
    sweeper.define_singleton_method(:alternative) do |topology: scenarios.first.topology, arrivals: nil, **|
      forecaster.cell(forecaster.scenario(topology.to_s, *arrivals))
    end
    constraints = Advise::Constraints.new(goals:, **limits)
    @sweep, @list = Advise.call(workload, sweeper, scenarios, constraints) do |wanted|
      sweep(*wanted.map { |one| cell(one) })
    end
    @list.sizing
  end

  test "the cheapest setting that meets the goal, what it bears with the margin, and where it likely breaks" do
    found = sizing("4x1", "1x1", "2x1")
    assert_equal [topology("1x1"), 1], [found.forecast.topology, found.machines_count]
    assert_in_epsilon WORKER_PER_S, found.capacity.rate_per_s, 0.02
    assert_operator found.breaking.failed_scenario.arrivals.rate_per_s, :>, WORKER_PER_S
    assert_equal topology("1x1"), @list.recommendation.topology
    assert_equal [], [found.nearest, found.miss].compact
  end

  test "safe against one worker's loss is what meets the goal with one worker less" do
    found = sizing("1x1", "2x1", "3x1", arrivals: Model::Arrivals.open(120))
    assert_equal %w[2x1 3x1 2x1], [found.forecast, found.spare, found.spare.degraded].map { |one| one.topology.to_s }
    assert_equal 300 << 20, found.spare.memory_bytes
    assert_nil sizing("1x1", "2x1", arrivals: Model::Arrivals.open(120)).spare
    assert_nil sizing("1x1", "2x1", "3x1", arrivals: Model::Arrivals.open(120), max_memory_bytes: 250 << 20).spare
    container = ->(limit_mib) { sizing("1x1", "2x1", "3x1", arrivals: Model::Arrivals.open(120), max_memory_bytes: limit_mib << 20, memory_limited_by: "container").spare&.topology }
    assert_equal [nil, topology("3x1")], [344, 345].map(&container)
  end

  test "a load that no setting bears alone is shared by as many machines as it needs, and advice is about one's share" do
    found = sizing("2x1", "1x1", arrivals: Model::Arrivals.open(1_000))
    # By memory all are alike; of these, fewer machines.
    assert_equal (1_000 / (2 * WORKER_PER_S)).ceil, found.machines_count
    assert_in_epsilon 1_000.0 / found.machines_count, found.forecast.scenario.arrivals.rate_per_s, 1e-9
    assert_equal [1_000.0, 1_000.0 / found.machines_count], [found.arrivals.rate_per_s, @sweep.arrivals.rate_per_s]
    assert_operator found.capacity.rate_per_s, :>=, found.forecast.scenario.arrivals.rate_per_s * 0.98
  end

  test "machines share the database's connections" do
    assert_equal 14, sizing("1x1", arrivals: Model::Arrivals.open(1_000), db_connections_count: 14).machines_count
    none = sizing("1x1", arrivals: Model::Arrivals.open(1_000), db_connections_count: 13)
    assert_nil none.machines_count
    borne = ->(limit_mib) { sizing("1x1", arrivals: Model::Arrivals.open(1_000), max_memory_bytes: limit_mib << 20, memory_limited_by: "container").machines_count }
    assert_equal [14, nil], [100, 99].map(&borne), "today's setting, which takes 100 MiB, needs no margin"
  end

  test "a goal that nothing meets is told with what comes nearest, and by how much it misses" do
    found = sizing("2x1", "1x1", arrivals: Model::Arrivals.open(1_000), goals: [Goal.read("99% < 40ms")])
    refute_predicate found, :met?
    assert_equal [nil, nil], [found.machines_count, found.capacity]
    assert_in_delta 46 * MS, found.miss.latency_ns.value, MS
    assert_includes 0.1..0.2, found.nearest.scenario.arrivals.rate_per_s, "no load has a steady state there but next to none"
  end

  test "limits that nothing keeps to are told with what takes least" do
    found = sizing("2x1", "1x1", max_memory_bytes: 1 << 20)
    assert_equal [topology("1x1"), nil], [found.nearest.topology, found.miss]
  end

  test "of a recorded closed loop the goal is about its clients, and what the setting bears is a rate" do
    found = sizing("1x1", "2x1", arrivals: Model::Arrivals.closed(10))
    assert_equal ["closed", 1], [found.arrivals.kind, found.machines_count]
    assert_in_epsilon WORKER_PER_S, found.capacity.rate_per_s, 0.02
  end

  test "without a goal there is nothing to size" do
    assert_nil sizing("1x1", goals: [])
  end

  test "where the forecasts miss their own recording, nothing is sized" do
    figure = Predict::CheckedFigure.new(metric: "throughput", recorded: 100.0, simulated: estimate(150.0), error_ratio: 0.5, beyond_noise: true)
    check = Predict::SelfCheck.new(settings: [Predict::CheckedSetting.new(scenario: scenario("1x1"), figures: [figure], cause: PumaTuner::Statement.of(:no_part))])
    _, list = Advise.call(workload, nil, [scenario("1x1")], Advise::Constraints.new(goals: [GOAL])) { sweep(cell(scenario("1x1"))).with(self_check: check) }
    assert_nil list.sizing
    assert_equal :measure_first, list.advice.first.title.kind
  end

  test "a sizing outlives its file" do
    sizing("1x1", "2x1", "3x1", arrivals: Model::Arrivals.open(120))
    assert_equal @list, Document.parse(Document.dump(@list), "advice.json", [:advice_list])
  end
end
