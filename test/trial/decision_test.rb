# frozen_string_literal: true

require "test_helper"
require "support/trials_made"

# When a trial is ended: each rule fires on what it is for, and on nothing that hits all workers alike.
class TrialDecisionTest < TunerTest
  include TrialsMade

  # @return [Statement, nil] the first that is decided, look by look
  def decided(plan, readings)
    readings.each_index.lazy.filter_map { |place| Trial::Decision.of(plan, readings.first(place + 1)) }.first
  end

  def kind_for(plan = self.plan, seconds: 20, &) = decided(plan, readings(plan, seconds:, &))&.kind

  test "workers that do alike go on, however slow, full of errors and queued they are" do
    random = Random.new(1)
    assert_nil kind_for(seconds: 120) { {latencies_ms: Array.new(30) { 5 + 40 * random.rand**3 }} }
    assert_nil kind_for { {latencies_ms: [900] * 30, errors: 9, queued_count: 40, pool_ms: 20_000} }
    assert_nil kind_for { {latencies_ms: []} }
  end

  test "a canary that is slower ends the trial within seconds, and one that is faster does not" do
    slow = readings(plan, seconds: 20) { |_, canary| {latencies_ms: [10] * 27 + [canary ? 40 : 12] * 3} }
    ended = decided(plan, slow)
    assert_equal :slow, ended.kind
    assert_in_delta 12, ended.facts["before_ns"].fdiv(MS), 0.3
    assert_in_delta 40, ended.facts["after_ns"].fdiv(MS), 0.8
    after_s = slow.index { |reading| Trial::Decision.of(plan, slow.first(slow.index(reading) + 1)) }
    assert_operator after_s, :<, plan.period_s, "within the canary's own period"
    assert_nil kind_for { |_, canary| {latencies_ms: [10] * 27 + [canary ? 10 : 40] * 3} }
  end

  test "a few slow requests are no harm, and neither is what happened while pools changed" do
    assert_nil kind_for { |_, canary, at_s| {latencies_ms: [10] * 30 + ((canary && at_s == 5) ? [100] : [])} }
    assert_nil kind_for { |_, canary, at_s| {latencies_ms: [10] * 30 + ((canary && at_s <= 2) ? [500] * 30 : [])} }
  end

  test "errors end it where they are the canary's alone" do
    assert_equal :errors, kind_for { |_, canary| {errors: canary ? 2 : 0} }
    assert_nil kind_for { |_, canary, at_s| {errors: (canary && at_s == 4) ? 2 : 0} }
    assert_nil kind_for { {errors: 2} }
  end

  test "a queue that grows beyond the threads ends it, where the others have none like it" do
    assert_equal :queue, kind_for { |_, canary| {queued_count: canary ? 9 : 1} }
    assert_nil kind_for { |_, canary, at_s| {queued_count: (canary && at_s.odd?) ? 9 : 0} }
    assert_nil kind_for { |_, canary| {queued_count: canary ? 9 : 6} }
  end

  test "a longer queue of a canary that is asked for more, and serves more, is none of its doing" do
    assert_nil kind_for { |_, canary| {queued_count: canary ? 9 : 1, latencies_ms: [10] * (canary ? 45 : 30)} }
    assert_equal :queue, kind_for { |_, canary| {queued_count: canary ? 9 : 1, latencies_ms: [10] * (canary ? 25 : 30)} }
    alone = plan(pids: [11])
    assert_nil kind_for(alone) { |_, canary| {queued_count: canary ? 9 : 1, latencies_ms: [10] * (canary ? 45 : 30)} }
  end

  test "a starved pool of connections ends it" do
    assert_equal :starved_pool, kind_for { |_, canary| {pool_ms: canary ? 30 : 2} }
    assert_nil kind_for { {pool_ms: 30} }
  end

  test "a worker that was replaced ends it, and one that does not obey or counts wrong, after some looks" do
    list = readings(plan, seconds: 6) { {} }
    assert_nil decided(plan, list)
    gone = list + [list.last.with(workers: list.last.workers.drop(1))]
    assert_equal [:workers_replaced, {"gone" => 1, "come" => 0}], decided(plan, gone).then { |ended| [ended.kind, ended.facts] }
    replaced = list + [list.last.with(workers: [worker(11), worker(99)])]
    assert_equal({"gone" => 1, "come" => 1}, decided(plan, replaced).facts)
    assert_equal :disobeyed, kind_for { |_, canary| canary ? {threads: 3, why_not: "not_allowed"} : {} }
    assert_equal :miscounted, kind_for { |_, canary| {live_count: canary ? 4 : 3} }
    assert_nil kind_for { |_, canary, at_s| {live_count: (canary ? 5 : 3) - ((canary && at_s % 10 > 3) ? 1 : 0)} }
  end

  test "memory that runs out ends it, whoever uses it" do
    limited = plan.with(memory_limit_bytes: 1_000)
    list = readings(limited, seconds: 3) { {} }
    assert_nil decided(limited, list.map { |reading| reading.with(memory_bytes: 940) })
    assert_equal :memory, decided(limited, list.map { |reading| reading.with(memory_bytes: 960) }).kind
  end

  test "a process without fellows is held against itself, and only where it was seen before" do
    alone = plan(pids: [11])
    assert_nil alone.canary(0)
    assert_equal :slow, kind_for(alone) { |_, canary| {latencies_ms: [10] * 27 + [canary ? 40 : 12] * 3} }
    assert_equal :queue, kind_for(alone) { |_, canary| {queued_count: canary ? 9 : 1} }
    assert_nil kind_for(alone) { {queued_count: 9, errors: 2} }
  end
end
