# frozen_string_literal: true

require "test_helper"
require "support/builders"

class GcRuleTest < TunerTest
  include Builders

  def remarks(*endpoints)
    list = Advise::Advisor.new.call(workload(endpoints:), sweep(forecast("1x5", 100)))
    list.advice.select { |advice| advice.rule == "gc" }.map { |advice| told(advice) }
  end

  test "a tenth of the CPU time is worth a remark that names the endpoint" do
    remark = remarks(endpoint_demand(demand([10], gc_ms: 0), name: "GET /a", weight_ratio: 0.5),
      endpoint_demand(demand([10], gc_ms: 2), name: "GET /b", weight_ratio: 0.5)).first
    assert_equal "GC takes 10.0% of the CPU time", remark.title
    assert_equal "Most of it in GET /b: 2.00 ms of 10.0 ms of CPU time (mean of 1 recorded requests).", remark.evidence.last
  end

  test "less than a tenth is not" do
    assert_empty remarks(endpoint_demand(demand([10], gc_ms: 0.9)))
  end

  test "GC that was not timed gives no remark, and does not dilute the rest" do
    assert_empty remarks(endpoint_demand(demand([10], gc_ms: nil)))
    remark = remarks(endpoint_demand(demand([10], gc_ms: nil), weight_ratio: 0.9), endpoint_demand(demand([10], gc_ms: 2), weight_ratio: 0.1)).first
    assert_equal "GC takes 20.0% of the CPU time", remark.title
  end

  test "requests without CPU time have no GC to speak of" do
    assert_empty remarks(endpoint_demand(demand([0, 0], [5])))
  end
end
