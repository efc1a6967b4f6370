# frozen_string_literal: true

require "test_helper"
require "support/advising"

class LongBurstsRuleTest < TunerTest
  include Advising

  def remarks(*demands, **facts)
    list = Advise::Advisor.new.call(workload(endpoints: [endpoint_demand(*demands, name: "GET /report")], **facts), sweep(forecast("1x5", 100)))
    list.advice.select { |advice| advice.rule == "long_bursts" }.map { |advice| told(advice) }
  end

  test "an endpoint that keeps the GVL for half a slice is named, with how often and how long" do
    remark = remarks(*[demand([1])] * 9, demand([80, 1], [1])).first
    assert_equal "GET /report: 1 of 10 recorded requests keep the GVL for 50.0 ms or more at a stretch, 80.0 ms at the longest.",
      remark.evidence.first
    assert_match(/today 5/, remark.evidence.last)
  end

  test "long work in short bursts is no reason for a remark" do
    assert_empty remarks(demand([49, 49, 49], [1, 1]))
  end

  test "a burst that comes less than once in a hundred requests is not in the p99" do
    assert_empty remarks(*[demand([1])] * 100, demand([80]))
    refute_empty remarks(*[demand([1])] * 99, demand([80]))
  end

  test "the shorter slice is offered only where Ruby reads the variable" do
    assert_match(/RUBY_THREAD_TIMESLICE=10/, remarks(demand([80]), ruby_version: "3.4.0").first.change)
    refute_match(/RUBY_THREAD_TIMESLICE/, remarks(demand([80]), ruby_version: "3.3.9").first.change)
  end

  test "a slice that is short already is not advised, and what there was comes back by the undo" do
    {100 => "unset RUBY_THREAD_TIMESLICE", 50 => "RUBY_THREAD_TIMESLICE=50", nil => "unset RUBY_THREAD_TIMESLICE"}.each do |timeslice_ms, undo|
      assert_equal undo, remarks(demand([80]), timeslice_ms:).first.undo
    end
    refute_match(/RUBY_THREAD_TIMESLICE/, remarks(demand([80]), timeslice_ms: 10).first.then { |remark| remark.change + remark.undo })
  end

  # @param p50_ratio, p99_ratio [Float] of today's, with short slices
  def forecast_as(p50_ratio, p99_ratio)
    today = forecast("1x5", 100)
    ask(Advise::Rules::LongBursts, of: workload(endpoints: [endpoint_demand(demand([80]), name: "GET /report")]), today:) do |_, settings|
      assert_equal 10, settings[:timeslice_ms]
      today.with(p50_ns: estimate(today.p50_ns.value * p50_ratio), p99_ns: estimate(today.p99_ns.value * p99_ratio))
    end.first
  end

  test "a short slice is advised with its forecast, where somebody gains by it and the tail does not get longer" do
    advice = forecast_as(0.6, 1.05)
    assert_in_delta 0.6, advice.p50_ratio.value
    assert_equal [{"environment" => "RUBY_THREAD_TIMESLICE=10"}, {"env.RUBY_THREAD_TIMESLICE" => "10"}], [advice.lines, advice.factors]
    [[0.6, 1.2], [1.01, 1.0]].each do |ratios|
      worse = forecast_as(*ratios)
      assert_match(/background job/, worse.change)
      assert_empty worse.lines
      assert_match(/is predicted to bring .* and is not advised/, worse.evidence.last)
    end
  end

  test "a short slice with which the load can't be borne is not advised" do
    app = workload(endpoints: [endpoint_demand(demand([80]), name: "GET /report")])
    advice = ask(Advise::Rules::LongBursts, of: app) { forecast("1x5", 100).with(unsteady: "the queue grows") }.first
    assert_match(/background job/, advice.change)
    assert_empty advice.lines
  end

  test "with one thread nobody waits for a slice" do
    assert_empty ask(Advise::Rules::LongBursts, of: workload(endpoints: [endpoint_demand(demand([80]))]), today: "2x1")
  end
end
