# frozen_string_literal: true

require "test_helper"
require "support/trials_made"
require "tempfile"

# What a trial says of an effect that is known, and a journal that says it again.
class TrialOutcomeTest < TunerTest
  include TrialsMade

  computes!

  # Workers are unlike by a tenth, seconds by what all have alike, requests by chance.
  #
  # @param effect [Float] on each latency of the canary
  # @param load_effect [Float] share of requests that the canary gets
  def traffic(plan, effect: 1.0, load_effect: 1.0, seed: 1)
    random = Random.new(seed)
    readings(plan) do |pid, canary, at_s|
      busy = 1 + 0.3 * Math.sin(at_s / 15.0)
      count = (60 * (0.8 + 0.4 * random.rand) * (canary ? load_effect : 1)).round
      {latencies_ms: Array.new(count) { (10 + 30 * random.rand**4) * busy * (pid.even? ? 1.1 : 1.0) * (canary ? effect : 1.0) }}
    end
  end

  def outcome(plan, readings, **) = Trial::Outcome.of(plan, readings, started_at: "2026-01-01T00:00:00Z", server_pid: 7, **)

  def row(outcome, name) = outcome.rows.find { |one| one.name == name }

  test "an effect is found with its size, in both directions, and puma.rb gets the better setting" do
    better = outcome(plan, traffic(plan, effect: 0.8))
    assert_equal [:better, [5, 5]], [better.outcome, better.threads]
    assert_in_delta 0.8, row(better, "p99").ratio.value, 0.03
    assert row(better, "p99").ratio.covers?(0.8)
    assert_in_delta 0.8, row(better, "p50").ratio.value, 0.03
    worse = outcome(plan, traffic(plan, effect: 1.3))
    assert_equal [:worse, [3, 3]], [worse.outcome, worse.threads]
    assert_operator worse.p_value, :<=, 0.05
  end

  test "where there is nothing, something is found no more often than promised" do
    found = (1..12).count { |seed| outcome(plan, traffic(plan, seed:)).outcome != :not_shown }
    assert_operator found, :<=, 3, "of 12, where one is to be expected"
  end

  test "one canary for one period has an interval, too, where it had enough looks" do
    once = plan(pids: [11, 13, 15], periods_count: 1, period_s: 60.0)
    found = Trial::Spans.new(once, traffic(once, effect: 0.7)).p99_ratio
    assert found.covers?(0.7)
    assert_operator found.high - found.low, :<, 0.4
    alone = plan(pids: [11], periods_count: 2, period_s: 30.0)
    turns = (1..5).filter_map { |seed| Trial::Spans.new(alone, traffic(alone, effect: 0.7, seed:)).p99_ratio }
    assert_operator turns.size, :>, 1, "where the traffic of both turns was alike"
    turns.each { |one| assert_in_delta 0.7, one.value, 0.3 }
    short = plan(periods_count: 1, period_s: 4.0)
    assert_nil Trial::Spans.new(short, traffic(short)).p99_ratio
    assert_nil Trial::Spans.new(once, readings(once) { {latencies_ms: []} }).p99_ratio
  end

  test "a range of threads keeps its minimum, where that is not more" do
    assert_equal [1, 5], outcome(plan(configured: [1, 3]), traffic(plan(configured: [1, 3]), effect: 0.7)).threads
    few = plan(configured: [4, 8], threads_count: 2)
    assert_equal [2, 2], outcome(few, traffic(few, effect: 0.7)).threads
  end

  test "a canary that gets less traffic is not called better for it" do
    plan = plan(pids: [11, 12, 13], periods_count: 12)
    random = Random.new(3)
    loads = readings(plan) do |_, canary, at_s|
      count = (40 * (0.6 + 0.8 * random.rand) * (canary ? 0.7 : 1)).round
      {latencies_ms: Array.new(count) { (5 + 10 * random.rand) * (count / 40.0) }}
    end
    found = outcome(plan, loads)
    assert_operator row(found, "p99").ratio.value, :<, 0.9
    refute_equal :better, found.outcome
  end

  test "what ended a trial is its outcome, unless the setting has no part in it" do
    list = traffic(plan, effect: 0.8)
    assert_equal :harmful, outcome(plan, list, ended: Statement.of(:slow)).outcome
    assert_equal :better, outcome(plan, list, ended: Statement.of(:interrupted)).outcome
    assert_equal :not_shown, outcome(plan, list.first(25), ended: Statement.of(:workers_replaced, gone: 1, come: 1)).outcome
  end

  test "without any request nothing is shown" do
    empty = outcome(plan, readings(plan, seconds: 30) { {latencies_ms: []} })
    assert_equal [:not_shown, [0, 0], []], [empty.outcome, empty.requests_counts, empty.rows]
    assert_equal empty, Document.parse(Document.dump(empty), "x", [:trial])
  end

  test "seconds in which a pool had not what was ordered do not count" do
    list = traffic(plan)
    counts = outcome(plan, list).requests_counts
    late = list.each_with_index.map { |reading, place| (place % 10 < 5) ? reading.with(workers: reading.workers.map { |one| one.with(threads_count: 3) }) : reading }
    assert_in_delta 4 / 7.0, outcome(plan, late).requests_counts.sum.fdiv(counts.sum), 0.05
  end

  test "one process alone has both settings in turns" do
    alone = plan(pids: [11], periods_count: 16)
    assert_equal [nil, 11, 11, nil, nil, 11, 11, nil], (0..7).map { |period| alone.canary(period) }
    found = outcome(alone, traffic(alone, effect: 0.7))
    assert_equal :better, found.outcome
    assert_in_delta 0.7, row(found, "p99").ratio.value, 0.12
  end

  test "a trial is told in every format, with the line to write and the interval" do
    found = outcome(plan, traffic(plan, effect: 0.8), restored: true)
    text = Report.render(found, format: :text)
    assert_match(/\A5 threads instead of 3: better/, text)
    assert_match(/config\/puma.rb:\s+threads 5, 5/, text)
    assert_match(/p99 +0\.\d+x \(0\.\d+–0\.\d+\)/, text)
    assert_match(/ended early.*its p99 was 40.0 ms in 120 requests, where 12.0 ms are usual/m,
      Report.render(found.with(ended: Statement.of(:slow, before_ns: 12 * MS, after_ns: 40 * MS, requests_count: 120)), format: :text))
    assert_includes Report.render(found, format: :html), "threads 5, 5"
    assert_equal found, Document.parse(Document.dump(found), "x", [:trial])
  end

  # @return [String] the path of what a run would have written
  def journal(plan, readings, file)
    journal = Trial::Journal.new(file)
    journal.begin(plan, started_at: "2026-01-01T00:00:00Z", server_pid: 7)
    readings.each_index { |place| journal.look(readings[place], Trial::Decision.of(plan, readings.first(place + 1))) }
    journal.end(nil, restored: true)
    file.path
  end

  test "a journal that is read again decides and ends the same; one that was cut short as far as it goes" do
    list = traffic(plan, effect: 0.9)
    Tempfile.create("journal") do |file|
      path = journal(plan, list, file)
      again = Trial::Journal.read(path).replay
      assert_equal outcome(plan, list, restored: true), again
      File.write(path, File.read(path).byteslice(0, File.size(path) / 2))
      assert_includes 50..70, Trial::Journal.read(path).readings.size
      assert_nil Trial::Journal.read(path).replay.restored
    end
  end

  test "a journal that has no place is named, and nothing else comes of it" do
    File.open("/dev/full", "w") do |file|
      error = assert_raises(MeasurementFailed) { Trial::Journal.new(file).end(nil, restored: true) }
      assert_equal "the journal /dev/full could not be written: No space left on device. Make room, or give another file with --journal.", error.message
    end
  end

  test "a journal that decided otherwise is not taken for the same, and what is none, or a newer one, is named" do
    list = readings(plan, seconds: 8) { |_, canary| {errors: canary ? 2 : 0} }
    Tempfile.create("journal") do |file|
      path = journal(plan, list, file)
      lines = File.readlines(path)
      File.write(path, lines.map { |line| line.sub(/"decision":\{.*\}\}\Z/, '"decision":null}') }.join)
      error = assert_raises(InvalidMeasurement) { Trial::Journal.read(path).replay }
      assert_match(/decides errors, where to go on was decided/, error.message)
      newer = '{"kind":"trial_journal","format":2,"tool_version":"9.0"}'
      {"x" => /it is no journal/, "" => /it is no journal/, "{}" => /it is no journal/, lines.drop(1).join => /it is no journal/,
       newer => /its format is 2, and this puma_tuner \(\S+\) reads 1; the one that wrote it is newer \(9\.0\), and reads it\./}.each do |other, why|
        File.write(path, other)
        assert_match(why, assert_raises(InvalidDocument) { Trial::Journal.read(path) }.message)
      end
    end
    assert_raises(UsageError) { Trial::Journal.read("/nowhere") }
  end

  test "a plan has each worker as the canary as often, in at least as many blocks as a test needs" do
    plan = ->(duration_s, *pids) { Trial::Plan.of(threads_count: 5, configured: [3, 3], pids:, duration_s:) }
    counts = {[600, 1, 2] => 12, [600, 1, 2, 3, 4] => 8, [600, 1] => 12, [60, 1, 2] => 6, [10, 1, 2] => 1, [3_600, 1, 2] => 60,
              [600, *(1..16)] => 16, [300, 1, 2, 3, 4] => 8, [300, 1, 2, 3, 4, 5] => 10, [60, 1, 2, 3, 4] => 4}
    counts.each do |given, count|
      made = plan.call(*given)
      assert_equal count, made.periods_count, given.inspect
      assert_in_delta given.first, made.duration_s, 1e-6
      assert_operator made.settle_s, :<, made.period_s / 2
    end
  end
end
