# frozen_string_literal: true

require "test_helper"
require "support/builders"

class LockBoundRuleTest < TunerTest
  include Builders

  def remarks(*endpoints)
    list = Advise::Advisor.new.call(workload(endpoints:), sweep(forecast("1x5", 100)))
    list.advice.select { |advice| advice.rule == "lock_bound" }.map { |advice| told(advice) }
  end

  def locking(lock_ms, kind: "lock", **) = endpoint_demand(demand([2, 2], [lock_ms], wait_kinds: [kind]), **)

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

  test "of many endpoints the worst five are named" do
    remark = remarks(*(1..7).map { |ms| locking(ms, name: "GET /#{ms}", weight_ratio: 1.fdiv(7)) }).first
    assert_equal ["GET /7", "GET /6", "GET /5", "GET /4", "GET /3"], remark.evidence.take(5).map { |sentence| sentence[/\AGET \S+/] }
    assert_equal "2 endpoints more.", remark.evidence[5]
    assert_equal 7, remark.evidence.size
  end

  test "a larger pool is proposed where a pool was waited for, and not where it was another lock" do
    assert_match(/\Araise the size of the pool/, remarks(locking(8, kind: "pool")).first.change)
    refute_match(/pool/, remarks(locking(8)).first.change)
    assert_match(/config\.log_level/, remarks(locking(8)).first.change)
  end

  test "which of the waits were for a pool is told, by the endpoints' shares of the traffic" do
    remark = remarks(locking(8, kind: "pool", name: "GET /a", weight_ratio: 0.25), locking(8, name: "GET /b", weight_ratio: 0.75)).first
    assert_equal "Of all requests together it is 66.7%; 25.0% of that is for a connection pool.", remark.evidence.last
    refute_match(/\Araise the size/, remark.change)
  end

  test "less than a fifth is no reason for a remark, nor is other waiting" do
    assert_empty remarks(locking(0.9))
    assert_empty remarks(endpoint_demand(demand([2, 2], [50])))
    assert_empty remarks(endpoint_demand(demand([0])), locking(0.5))
  end
end
