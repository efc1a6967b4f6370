# frozen_string_literal: true

require "test_helper"
require "json"
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

  # @param goals [Array<String>]
  def search(arrivals, *goals, forecaster: formula, **options)
    Predict::CapacitySearch.new(goals: goals.map { |text| Goal.read(text) }, forecaster:, **options).call(scenario("1x1", arrivals))
  end

  # The rate at which the upper end of the formula's p99, 1% above it, is 200 ms.
  def truth_per_s(margin: 1.01) = SERVICE_PER_S - Math.log(100) * margin / 0.2

  test "the highest rate at which the goal holds, to the tolerance, from wherever it starts" do
    [1, 60, 75, 99, 5_000].each do |start_per_s|
      capacity = search(Model::Arrivals.open(start_per_s), "99% < 200ms")
      low, high = capacity.scenario.arrivals.rate_per_s, capacity.failed_scenario.arrivals.rate_per_s
      assert_operator low, :<=, truth_per_s
      assert_operator high, :>, truth_per_s
      assert_operator high, :<=, low * 1.02
      assert_equal Goal.read("99% < 200ms"), capacity.miss.goal
      assert_operator capacity.miss.latency_ns.high, :>=, 200 * MS
      assert_equal capacity.scenario.arrivals, capacity.forecast.scenario.arrivals
    end
  end

  test "it takes few forecasts, counts them, and always the same" do
    first = search(Model::Arrivals.open(20), "99% < 200ms")
    assert_equal @asked.size, first.forecasts_count
    assert_operator first.forecasts_count, :<=, 12
    assert_equal first, search(Model::Arrivals.open(20), "99% < 200ms")
  end

  test "the goal is a steady state where latency has no limit" do
    capacity = search(Model::Arrivals.open(30))
    assert_in_delta SERVICE_PER_S, capacity.scenario.arrivals.rate_per_s, 2
    assert_equal "the queue grows", capacity.miss.unsteady
  end

  test "connections of a closed loop, exactly while they are few" do
    capacity = search(Model::Arrivals.closed(5), "99% < 175ms")
    assert_equal [17, 18], [capacity.scenario, capacity.failed_scenario].map { |scenario| scenario.arrivals.connections_count }
    many = search(Model::Arrivals.closed(5), "99% < 12345ms")
    low, high = [many.scenario, many.failed_scenario].map { |scenario| scenario.arrivals.connections_count }
    assert_operator low, :<=, 1_222
    assert_operator high, :>, 1_222
    assert_operator high, :<=, low * 1.02
  end

  test "arrivals keep their kind" do
    capacity = search(Model::Arrivals.open(30, kind: "bursty", burst_count: 4), "99% < 200ms")
    assert_equal ["bursty", 4], [capacity.scenario.arrivals.kind, capacity.scenario.arrivals.burst_count]
    replayed = search(Model::Arrivals.replayed([0, MS * 30, MS * 50, MS * 100]), "99% < 200ms").scenario.arrivals
    assert_in_delta truth_per_s, replayed.rate_per_s, 2
    assert_in_delta 3e9 / truth_per_s, replayed.times_ns.last, 1e8
  end

  test "a goal that never holds, and one that always does" do
    never = search(Model::Arrivals.open(30), "99% < 1ms")
    assert_equal [nil, nil], [never.scenario, never.forecast]
    assert_in_delta 46 * MS, never.miss.latency_ns.value, MS
    # The formula's bound is 50/s: at a thousandth of it requests hardly ever meet.
    assert_includes 0.05..0.1, never.failed_scenario.arrivals.rate_per_s
    always = search(Model::Arrivals.closed(5), "99% < 1000000ms")
    assert_nil always.failed_scenario
    assert_operator always.scenario.arrivals.connections_count, :>, 5_000
  end

  test "a closed loop without a limit is a mistake" do
    assert_match(/--slo/, assert_raises(UsageError) { search(Model::Arrivals.closed(5)) }.message)
  end

  test "the middle of the forecasts is the other way to judge them, from where on a goal is likely missed" do
    likely = search(Model::Arrivals.open(30), "99% < 200ms", judged_by: :value)
    assert_operator likely.rate_per_s, :<=, truth_per_s(margin: 1.0)
    assert_operator likely.failed_scenario.arrivals.rate_per_s, :>, truth_per_s(margin: 1.0)
    assert_equal %i[value high], [likely, search(Model::Arrivals.open(30), "99% < 200ms")].map(&:judged_by)
  end

  test "the goal that is missed by most is named" do
    miss = forecast("1x1", 50.0, p99_ms: 100).miss([Goal.read("99% < 90ms"), Goal.read("50% < 40ms"), Goal.read("90% < 80ms")])
    assert_equal "50% < 40 ms", miss.goal.to_s
    assert_in_delta 1.2625, miss.excess_ratio, 1e-4
    assert_nil forecast("1x1", 50.0, p99_ms: 100).miss([Goal.read("99% < 102ms")])
    refute_nil forecast("1x1", 50.0, p99_ms: 100).miss([Goal.read("99% < 100.5ms")]), "its interval ends above it"
  end

  test "a capacity outlives its file" do
    capacity = search(Model::Arrivals.open(20), "99% < 200ms")
    assert_equal capacity, Predict::Capacity.from_document(JSON.parse(JSON.generate(capacity.to_document)))
  end
end
