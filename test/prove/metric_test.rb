# frozen_string_literal: true

require "test_helper"

class MetricTest < TunerTest
  Metric = PumaTuner::Prove::Metric

  test "a percentile is one metric, however it is written, and those that are always told keep their names" do
    assert_equal %w[p97.5 p50 p5 p999 p99.99], %w[p97.50 p50.0 p05 p99.9 p99.99].map { |name| Metric.percentile(name).name }
    metric = Metric.percentile("p97.5")
    assert_equal ["p97.5", "ns", false, "p97.5"], [metric.label, metric.unit, metric.more_is_better, metric.percentile]
    assert_equal [nil, "p50", "p90", "p99", "p99.9", nil], Metric::SERVED.first(6).map(&:percentile)
  end

  test "nothing but a percentile is had by its name alone, and of a block not even that" do
    assert_equal "p42", Metric.named("p42", Metric::SERVED).name
    %w[p0 p0.0 p100 p101 p99. p9.99999 speed].each { |name| assert_nil Metric.named(name, Metric::SERVED), name }
    assert_nil Metric.named("p42", Metric::BLOCK)
    assert_equal "iterations", Metric.named("iterations", Metric::BLOCK).name
  end

  test "percentiles that are wanted stand among the others, in their order" do
    assert_equal %w[throughput p5 p50 p90 p97.5 p99 p999 cpu_per_request],
      Metric.including(Metric::SERVED, %w[p97.5 pss p5 p97.5]).first(8).map(&:name)
    assert_same Metric::SERVED, Metric.including(Metric::SERVED, %w[p99 p999 iterations])
    assert_equal Metric::BLOCK, Metric.including(Metric::BLOCK, ["p97.5"])
  end

  test "the rarer what is beyond a percentile, the more requests it takes" do
    assert_equal [1, 1, 40, 80, 200, 2_000, 10_000, 100_000],
      %w[p50 p90 p95 p97.5 p99 p99.5 p99.9 p99.99].map { |name| Metric.percentile(name).least_requests_count }
    assert_equal 1, Metric::SERVED.first.least_requests_count
  end
end
