# frozen_string_literal: true

require "test_helper"
require "support/builders"

class CapacityTest < TunerTest
  include Builders

  # A server of 10 ms of work per request as a formula: M/M/1, whose p99 is a
  # hundred times likely to be below ln(100) / (µ - λ).
  SERVICE_PER_S = 100.0

  def p99_ms(rate_per_s) = Math.log(100) / (SERVICE_PER_S - rate_per_s) * 1_000

  def formula
    lambda do |scenario|
      @asked = [*@asked, scenario]
      arrivals = scenario.arrivals
      return p99_of(scenario, arrivals.connections_count * 10.0) unless arrivals.open?
      next p99_of(scenario, p99_ms(arrivals.rate_per_s)) if arrivals.rate_per_s < SERVICE_PER_S
      forecast("1x1", 1.0, arrivals:).with(unsteady: "the queue grows", throughput_per_s: nil, p50_ns: nil, p99_ns: nil)
    end
  end

  def p99_of(scenario, p99_ms) = forecast(scenario.topology.to_s, 50.0, p99_ms:, arrivals: scenario.arrivals)

  def search(arrivals, forecaster: formula, **goal)
    Predict::CapacitySearch.new(goal: Predict::Goal.new(**goal), forecaster:).call(scenario("1x1", arrivals))
  end

  # The rate at which the formula's p99 is 200 ms.
  def truth_per_s = SERVICE_PER_S - Math.log(100) / 0.2

  test "the highest rate at which the goal holds, to the tolerance, from wherever it starts" do
    [1, 60, 75, 99, 5_000].each do |start_per_s|
      capacity = search(Model::Arrivals.open(start_per_s), max_ns: {"p99" => 200 * MS})
      low, high = capacity.scenario.arrivals.rate_per_s, capacity.failed_scenario.arrivals.rate_per_s
      assert_operator low, :<=, truth_per_s
      assert_operator high, :>, truth_per_s
      assert_operator high, :<=, low * 1.02
      assert_operator capacity.failed_forecast.p99_ns.value, :>, 200 * MS
      assert_equal capacity.scenario.arrivals, capacity.forecast.scenario.arrivals
    end
  end

  test "it takes few forecasts, counts them, and always the same" do
    first = search(Model::Arrivals.open(20), max_ns: {"p99" => 200 * MS})
    assert_equal @asked.size, first.forecasts_count
    assert_operator first.forecasts_count, :<=, 12
    assert_equal first, search(Model::Arrivals.open(20), max_ns: {"p99" => 200 * MS})
  end

  test "without a limit to latency the goal is a steady state" do
    capacity = search(Model::Arrivals.open(30))
    assert_in_delta SERVICE_PER_S, capacity.scenario.arrivals.rate_per_s, 2
    refute_predicate capacity.failed_forecast, :steady?
    assert_equal "a steady state", capacity.goal.to_s
  end

  test "connections of a closed loop, exactly while they are few" do
    capacity = search(Model::Arrivals.closed(5), max_ns: {"p99" => 175 * MS})
    assert_equal [17, 18], [capacity.scenario, capacity.failed_scenario].map { |scenario| scenario.arrivals.connections_count }
    many = search(Model::Arrivals.closed(5), max_ns: {"p99" => 12_345 * MS})
    low, high = [many.scenario, many.failed_scenario].map { |scenario| scenario.arrivals.connections_count }
    assert_operator low, :<=, 1_234
    assert_operator high, :>, 1_234
    assert_operator high, :<=, low * 1.02
  end

  test "arrivals keep their kind" do
    capacity = search(Model::Arrivals.open(30, kind: "bursty", burst_count: 4), max_ns: {"p99" => 200 * MS})
    assert_equal ["bursty", 4], [capacity.scenario.arrivals.kind, capacity.scenario.arrivals.burst_count]
    replayed = search(Model::Arrivals.replayed([0, MS * 30, MS * 50, MS * 100]), max_ns: {"p99" => 200 * MS}).scenario.arrivals
    assert_in_delta truth_per_s, replayed.rate_per_s, 2
    assert_in_delta 3e9 / truth_per_s, replayed.times_ns.last, 1e8
  end

  test "a goal that never holds, and one that always does" do
    never = search(Model::Arrivals.open(30), max_ns: {"p99" => 1 * MS})
    assert_equal [nil, nil], [never.scenario, never.forecast]
    assert_in_delta 46, never.failed_forecast.p99_ns.value / MS, 1
    assert_operator never.failed_scenario.arrivals.rate_per_s, :<, 0.02
    always = search(Model::Arrivals.closed(5), max_ns: {"p99" => 1_000_000 * MS})
    assert_nil always.failed_scenario
    assert_operator always.scenario.arrivals.connections_count, :>, 5_000
  end

  test "a closed loop without a limit is a mistake" do
    assert_match(/--max-p99/, assert_raises(UsageError) { search(Model::Arrivals.closed(5)) }.message)
  end

  test "goals say themselves, and p50 counts too" do
    goal = Predict::Goal.new(max_ns: {"p99" => 200 * MS, "p50" => 40 * MS})
    assert_equal "a p50 of at most 40.0 ms and a p99 of at most 200 ms", goal.to_s
    assert_match(/\Ap50 would be 50.0 ms/, goal.failure(forecast("1x1", 50.0, p99_ms: 100)))
  end

  test "a capacity outlives its file" do
    capacity = search(Model::Arrivals.open(20), max_ns: {"p99" => 200 * MS})
    assert_equal capacity, Predict::Capacity.from_document(JSON.parse(JSON.generate(capacity.to_document)))
  end
end
