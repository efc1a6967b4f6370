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

  # Eight to none are 2 of 256, a p-value of 0.8%, which one of many looks has by chance.
  test "errors such as chance brings in one of many looks are no harm, and a few more are" do
    burst = ->(seconds) { kind_for { |_, canary, at_s| {errors: (canary && seconds.cover?(at_s)) ? 2 : 0} } }
    assert_nil burst[3..6]
    assert_equal :errors, burst[3..7]
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

  test "what connections that stay with a worker do to it for some seconds is no harm, unless it lasts, or the trial is short" do
    queued = ->(looks, plan = self.plan) { kind_for(plan) { |_, canary, at_s| {queued_count: (canary && at_s < looks) ? 9 : 1} } }
    slow = ->(looks, plan = self.plan) { kind_for(plan, seconds: looks) { |_, canary| {latencies_ms: [canary ? 90 : 10] * 90} } }
    {queue: queued, slow:}.each do |kind, seen|
      assert_nil seen[4], kind
      assert_equal kind, seen[7]
      assert_equal kind, seen[4, plan(period_s: 6.0)]
    end
  end

  test "a queue that grows ends it sooner than one that is only long, and slow requests have to be so until now" do
    long = plan(period_s: 40.0)
    ended_after = lambda do |queued|
      (1..40).find { |looks| kind_for(long, seconds: looks) { |_, canary, at_s| {queued_count: canary ? queued[at_s] : 1} } }
    end
    assert_operator ended_after[->(at_s) { 6 + 4 * at_s }], :<=, 7
    assert_in_delta 10, ended_after[->(at_s) { 9 + at_s % 3 }], 1
    slow = lambda do |seconds|
      kind_for(long, seconds: 40) { |_, canary, at_s| {latencies_ms: [(canary && seconds.cover?(at_s)) ? 90 : 10] * 90} }
    end
    (0..30).each { |second| assert_nil slow[second..second + 2], second }
    assert_equal [:slow, :slow], [slow[0..16], slow[25..39]]
  end

  test "what was slow for some seconds, with no requests after it, is no harm: each third of the last looks needs some" do
    asked_in = lambda do |*seconds|
      kind_for(plan(period_s: 40.0), seconds: 30) do |_, canary, at_s|
        {latencies_ms: [canary ? 90 : 10] * (seconds.include?(at_s) ? 300 : 0)}
      end
    end
    assert_nil asked_in[3, 4, 5]
    assert_equal :slow, asked_in[3, 4, 5, 6, 10, 14]
  end

  test "a burst that hits all of them is none of the canary's doing, also where it is the last to be through" do
    queued = ->(canary, at_s) { at_s.between?(11, canary ? 17 : 16) }
    assert_nil kind_for { |_, canary, at_s| {queued_count: queued[canary, at_s] ? 12 : 0} }
  end

  test "a starved pool of connections ends it" do
    assert_equal :starved_pool, kind_for { |_, canary| {pool_ms: canary ? 30 : 2} }
    assert_nil kind_for { {pool_ms: 30} }
    assert_nil kind_for(seconds: 9) { |_, canary| {latencies_ms: [10], pool_ms: canary ? 3 : 0} }, "a few requests show nothing"
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

  test "a worker that tells nothing for some looks is waited for, and one that stays silent ends it" do
    silent = {why_not: "silent", threads: 0, spawned_count: 0, live_count: 0}
    [11, 12].each do |who|
      quiet = ->(seconds) { kind_for { |pid, _, at_s| (pid == who && seconds.cover?(at_s)) ? silent : {} } }
      assert_nil quiet[3..9]
      assert_equal :silent, quiet[3..10]
    end
    flickers = ->(every) { kind_for { |pid, _, at_s| (pid == 12 && (at_s % every).zero?) ? silent : {} } }
    assert_equal [:silent, nil], [flickers[2], flickers[4]], "of half of the looks nothing is known of anybody"
    assert_equal :silent, watched { |pid| (pid == 12) ? silent : {} }.kind
    assert_includes Trial::Outcome::NO_FAULT, :silent
  end

  test "memory that runs out ends it, whoever uses it" do
    limited = plan.with(memory_limit_bytes: 1_000)
    list = readings(limited, seconds: 3) { {} }
    assert_nil decided(limited, list.map { |reading| reading.with(memory_bytes: 940) })
    assert_equal :memory, decided(limited, list.map { |reading| reading.with(memory_bytes: 960) }).kind
  end

  test "a trial that nothing ended shows no harm where either side had too few requests" do
    few = ->(counts) { readings(plan) { |_, canary| {latencies_ms: [10] * (canary ? counts.last : counts.first)} } }
    assert_nil Trial::Decision.few(plan, few.call([20, 20]))
    assert_equal [140, 14], Trial::Decision.few(plan, few.call([20, 2])).facts.values_at("before", "after")
    assert_equal [14, 140], Trial::Decision.few(plan, few.call([2, 20])).facts.values_at("before", "after")
    assert_equal [:few_requests, 0], Trial::Decision.few(plan, []).then { |one| [one.kind, one.facts["after"]] }
    disobeying = readings(plan, seconds: 5) { |_, canary| canary ? {threads: 3} : {} }
    assert_equal [0, 0], Trial::Decision.few(plan, disobeying).facts.values_at("before", "after"), "no look counted"
  end

  # @return [Statement, nil] of all workers with 5 threads, beside what was before with 3
  def watched(before: {}, pids: [11, 12], &now)
    all = Trial::Plan.of_all(5, pids:, period_s: 20.0, settle_s: 2, memory_limit_bytes: nil)
    before = pids.product([*1..10]).map { |pid, _| worker(pid, **before) }
    list = readings(all, seconds: 19, &now)
    list.each_index.lazy.filter_map { |place| Trial::Decision.of(all, list.first(place + 1), before:) }.first
  end

  test "where all workers have the number they are held against what was before" do
    [[11], [11, 12, 13]].each do |pids|
      assert_nil watched(pids:) { {} }
      assert_equal :slow, watched(pids:) { {latencies_ms: [40] * 20} }.kind
      assert_equal :errors, watched(pids:) { {errors: 2} }.kind
      assert_equal :starved_pool, watched(pids:) { {pool_ms: 60} }.kind
      assert_equal [:queue, 9], watched(pids:) { {queued_count: 9} }.then { |ended| [ended.kind, ended.facts["queued"]] }
      assert_nil watched(pids:, before: {queued_count: 5}) { {queued_count: 9} }
      assert_nil watched(pids:, before: {latencies_ms: [40] * 20, errors: 2, pool_ms: 60}) { {latencies_ms: [40] * 20, errors: 2, pool_ms: 60} }
      assert_nil watched(pids:) { {queued_count: 9, latencies_ms: [10] * 30} }, "more is asked of them, and they serve more"
    end
    assert_equal [:queue, 6], watched { |pid| {queued_count: (pid == 11) ? 12 : 0} }.then { |ended| [ended.kind, ended.facts["queued"]] }
    assert_nil watched { |pid| {queued_count: (pid == 11) ? 9 : 0} }, "the others have threads that are free"
    assert_equal :disobeyed, watched { |pid| (pid == 12) ? {threads: 3, why_not: "not_allowed"} : {} }.kind
    assert_nil watched { |pid, _, at_s| (pid.odd? == at_s.odd?) ? {live_count: 4} : {} }, "now one and now the other is late"
  end

  test "a process without fellows is held against itself, and only where it was seen before" do
    alone = plan(pids: [11])
    assert_nil alone.canary(0)
    assert_equal :slow, kind_for(alone) { |_, canary| {latencies_ms: [10] * 27 + [canary ? 40 : 12] * 3} }
    assert_equal :queue, kind_for(alone) { |_, canary| {queued_count: canary ? 9 : 1} }
    assert_nil kind_for(alone) { {queued_count: 9, errors: 2} }
  end
end
