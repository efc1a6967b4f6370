# frozen_string_literal: true

require "test_helper"
require "support/builders"

class LockBoundRuleTest < TunerTest
  include Builders

  def remarks(*endpoints)
    list = Advise::Advisor.new.call(workload(endpoints:), sweep(forecast("1x5", 100)))
    list.advice.select { |advice| advice.rule == "lock_bound" }
  end

  def locking(lock_ms, **) = endpoint_demand(demand([2, 2], [lock_ms], wait_kinds: ["lock"]), **)

  test "an endpoint that waits for locks for a fifth of its time is named, with its figures" do
    remark = remarks(locking(1, name: "GET /orders", weight_ratio: 0.1), endpoint_demand(demand([2]), weight_ratio: 0.9)).first
    assert_equal "GET /orders waits for locks for 20.0% of its time, 1.00 ms of a request (mean of 1 recorded).", remark.evidence.first
    assert_match(/all requests together/, remark.evidence.last)
    assert_predicate remark, :remark?
  end

  test "the worst endpoint is named first" do
    remark = remarks(locking(2, name: "GET /a", weight_ratio: 0.5), locking(8, name: "GET /b", weight_ratio: 0.5)).first
    assert_equal ["GET /b", "GET /a"], remark.evidence.take(2).map { |sentence| sentence[/\AGET \S+/] }
  end

  test "less than a fifth is no reason for a remark, nor is other waiting" do
    assert_empty remarks(locking(0.9))
    assert_empty remarks(endpoint_demand(demand([2, 2], [50])))
    assert_empty remarks(endpoint_demand(demand([0])), locking(0.5))
  end
end
