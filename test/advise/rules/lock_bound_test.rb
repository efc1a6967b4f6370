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
    assert_equal "GET /orders waits for locks for 20.0% of its time, 1.00 ms of a mean request.", remark.evidence.first
    assert_match(/all requests together/, remark.evidence.last)
    assert_predicate remark, :remark?
  end

  test "the worst endpoint is named first" do
    remark = remarks(locking(2, name: "GET /a", weight_ratio: 0.5), locking(8, name: "GET /b", weight_ratio: 0.5)).first
    assert_equal ["GET /b", "GET /a"], remark.evidence.take(2).map { |sentence| sentence[/\AGET \S+/] }
  end

  test "the worst five of many endpoints are named" do
    remark = remarks(*(1..7).map { |ms| locking(ms, name: "GET /#{ms}", weight_ratio: 1.fdiv(7)) }).first
    assert_equal ["GET /7", "GET /6", "GET /5", "GET /4", "GET /3"], remark.evidence.take(5).map { |sentence| sentence[/\AGET \S+/] }
    assert_equal "2 endpoints more.", remark.evidence[5]
    assert_equal 7, remark.evidence.size
  end

  test "waits for a pool are another rule's, and count for none of it" do
    assert_empty remarks(locking(8, kind: "pool"))
    remark = remarks(locking(8, kind: "pool", name: "GET /a", weight_ratio: 0.25), locking(8, name: "GET /b", weight_ratio: 0.75)).first
    assert_equal ["GET /b waits for locks for 66.7% of its time, 8.00 ms of a mean request.", "Of all requests together it is 50.0%."], remark.evidence
  end

  # @param place [String] where the lock is taken that was waited for
  def recorded(place)
    lock = Probe::LockObservation.new(id: 1, kind: "mutex", class_name: "Thread::Mutex", place:, size: 1, threads_count: 5, holds_count: 100, hold_ns: 200 * MS, waits_count: 80, wait_ns: 800 * MS)
    budget = {wall_ns: 2_000 * MS, lock_ns: 800 * MS, cpu_ns: 1_200 * MS}
    observation = observation(endpoints: [endpoint_observation(budget:)]).with(locks: [lock], budget: Probe::Budget.zero.with(**budget))
    Advise::Advisor.new.call(workload, sweep(forecast("1x5", 100)), observation:).advice.find { |advice| advice.rule == "lock_bound" }&.then { |advice| told(advice) }
  end

  test "a lock that was watched is named, with how often and how long it was held; a log's has a cure of its own" do
    remark = recorded("cache.rb:7 in Cache#fetch")
    assert_includes remark.evidence, "Most of it for the Thread::Mutex that is taken at cache.rb:7 in Cache#fetch: held 100 times, for 2.00 ms in the mean, and waited for 80 times."
    assert_equal "GET / waits for locks for 40.0% of its time, 20.0 ms of a mean request.", remark.evidence.first
    refute_match(/log_level/, remark.change)
    assert_match(/config\.log_level/, recorded("log_device.rb:31 in Logger::LogDevice#write").change)
  end

  test "less than a fifth is no reason for a remark, nor is other waiting" do
    assert_empty remarks(locking(0.9))
    assert_empty remarks(endpoint_demand(demand([2, 2], [50])))
    assert_empty remarks(endpoint_demand(demand([0])), locking(0.5))
  end
end
