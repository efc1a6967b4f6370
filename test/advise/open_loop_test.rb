# frozen_string_literal: true

require "test_helper"
require "support/builders"

# Advice where some scenarios have no steady state, where the load is its own rate, and where several loads were predicted.
class OpenLoopAdviceTest < TunerTest
  include Builders

  def rate = Model::Arrivals.open(100)

  def steady(text, p99_ms:) = forecast(text, 100, p99_ms:, arrivals: rate)

  def unsteady(text)
    nothing = Predict::Forecast.members.to_h { |member| [member, nil] }
    Predict::Forecast.new(**nothing, scenario: scenario(text, rate), unsteady: PumaTuner::Statement.of(:beyond_capacity, rate_per_s: 100.0, capacity_per_s: 80.0))
  end

  def advice(*forecasts, constraints: {}, **fields)
    told(Advise::Advisor.new(Advise::Constraints.new(**constraints)).call(workload, sweep(*forecasts).with(**fields)).advice.first)
  end

  test "a setting without a steady state is never recommended" do
    assert_equal "2x3", advice(steady("2x3", p99_ms: 90), unsteady("2x8"), unsteady("1x5")).topology.to_s
  end

  test "a setting with a steady state is recommended, without a ratio, when today's has none" do
    advice = advice(unsteady("1x5"), steady("2x3", p99_ms: 90), unsteady("1x8"))
    assert_equal "Go from 1x5 to 2x3: 1x5 has no steady state", advice.title
    assert_equal [nil, nil, nil], [advice.throughput_ratio, advice.p50_ratio, advice.p99_ratio]
    refute_predicate advice, :remark?
    assert_equal "Today, 1x5: no steady state, as 100 requests/s arrive and at most 80.0/s can be served: the queue grows without bound.", advice.evidence.first
    assert_match(/^Advised, 2x3: 100 requests/, advice.evidence[1])
  end

  test "nothing is recommended when no setting has a steady state, and a remark says so" do
    list = Advise::Advisor.new.call(workload, sweep(unsteady("1x5"), unsteady("2x4")))
    assert_nil list.recommendation
    assert_predicate list.advice.first, :remark?
    assert_equal "No topology predicted has a steady state with 100/s", told(list.advice.first).title
    assert_includes told(list.advice.first).evidence.join, "1x4 is outside the topologies predicted"
  end

  test "a remark says when only settings that break a constraint have a steady state" do
    remark = advice(unsteady("1x5"), steady("2x3", p99_ms: 90), constraints: {goals: [Goal.read("99% < 50ms")]})
    assert_nil remark.topology
    assert_equal "No topology predicted meets 99% < 50 ms and has a steady state with 100/s", remark.title
  end

  test "a rule of thumb without a steady state is told as such" do
    assert_match(/4 threads: 1x4 has no steady state\.$/, advice(steady("1x5", p99_ms: 90), unsteady("1x4")).evidence.last)
  end

  test "of as many requests/s the lowest p99 is chosen, and its change promised, even when it takes more slots" do
    advice = advice(steady("1x2", p99_ms: 200), steady("1x5", p99_ms: 100), steady("2x8", p99_ms: 300))
    assert_equal "Go from 1x2 to 1x5: as many requests/s, -50% p99", advice.title
    assert_includes advice.evidence, "No other topology predicted has a lower p99."
  end

  test "a tail that a constraint makes longer is told" do
    today, small = steady("1x5", p99_ms: 100).with(memory_bytes: 600 << 20), steady("1x2", p99_ms: 900).with(memory_bytes: 200 << 20)
    assert_equal "Go from 1x5 to 1x2, to meet memory of at most 512 MiB: as many requests/s, +800% p99", advice(today, small, constraints: {max_memory_bytes: 512 << 20}).title
  end

  test "a shorter tail counts more than slots" do
    assert_equal "Go from 2x8 to 1x5: as many requests/s, -67% p99", advice(steady("2x8", p99_ms: 300), steady("1x5", p99_ms: 100)).title
  end

  test "a shorter tail has to be shorter by more than a tenth, and in nine of ten simulations" do
    simulated = lambda do |text, *p99s_ms|
      steady(text, p99_ms: p99s_ms.sort[p99s_ms.size / 2]).with(samples: {"p99_ns" => p99s_ms.map { |ms| ms * 1_000_000 }, "throughput_per_s" => [100.0] * p99s_ms.size, "p50_ns" => [1] * p99s_ms.size})
    end
    today = simulated.call("1x2", *[100] * 10)
    assert_equal "1x5", advice(today, simulated.call("1x5", *[80] * 9, 120)).topology.to_s
    assert_equal "1x2", advice(today, simulated.call("1x5", *[80] * 8, 120, 120)).topology.to_s
    assert_equal "1x2", advice(today, simulated.call("1x5", *[92] * 10)).topology.to_s
  end

  test "p99s within 5% of the lowest are equal, and the fewest slots are chosen" do
    advice = advice(steady("2x8", p99_ms: 100), steady("1x5", p99_ms: 104), steady("1x2", p99_ms: 150))
    assert_equal "Go from 2x8 to 1x5: as many requests/s with 11 slots less", advice.title
    assert_includes advice.evidence,
      "2x8 is predicted with a p99 of 100 ms (99.0 ms to 101 ms), with 16 slots instead of 5: not 5.0% less."
  end

  test "advice is about the recording's own load when there are several, and says so" do
    sliced = forecast("2x8", 900).then { |one| one.with(scenario: one.scenario.with(timeslice_ms: 10)) }
    advice = advice(forecast("1x5", 100), forecast("2x3", 150), forecast("4x4", 800, arrivals: Model::Arrivals.closed(80)), sliced)
    assert_equal "2x3", advice.topology.to_s
    assert_includes advice.evidence, "Of all that was predicted, this is about 10 connections, as recorded."
  end

  test "a load that was not the recording's is told beside it" do
    advice = advice(forecast("1x5", 100), forecast("2x3", 150), arrivals: Model::Arrivals.closed(40))
    assert_equal "The recording had 40 connections; this is about 10 connections.", advice.evidence.last
  end

  test "advice names the what-ifs that it assumes" do
    assert_equal "Assumed, and not measured: cpu(GET /)*0.5.", advice(forecast("1x5", 100), what_if: ["cpu(GET /)*0.5"]).evidence.last
  end
end
