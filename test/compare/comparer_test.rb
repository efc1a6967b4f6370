# frozen_string_literal: true

require "test_helper"
require_relative "made_logs"

class CompareComparerTest < TunerTest
  include MadeLogs

  computes!

  def next_day(random, **) = log(random, begins_s: MONDAY_S + DAY_S, **)

  test "an endpoint that got slower is found, by how much, and no other is accused" do
    random = Random.new(1)
    outcome = compare(log(random, per_s: 5), next_day(random, per_s: 5, slower: {"GET /articles" => 1.3}), random)
    assert_nil outcome.reason
    slow, *others = outcome.endpoints.sort_by { |one| (one.endpoint == "GET /articles") ? 0 : 1 }
    %w[mean p50 p90].each do |metric|
      row = slow.rows.find { |one| one.name == metric }
      assert_equal :worse, row.outcome, metric
      assert_in_delta 1.3, row.ratio.value, 0.1, metric
      assert row.ratio.covers?(1.3), "#{metric} #{row.ratio}"
    end
    assert_equal [:not_shown], others.flat_map(&:rows).map(&:outcome).uniq
  end

  test "a changed mix alone is no change of endpoints" do
    random = Random.new(2)
    outcome = compare(log(random, per_s: 5), next_day(random, per_s: 5, shares: {"GET /articles/:id" => 0.5, "POST /orders" => 0.3}), random)
    mean = outcome.row("mean")
    assert_operator mean.ratio.low, :>, 1.5
    assert mean.adjusted.covers?(1), mean.adjusted.to_s
    assert_in_delta mean.ratio.value, mean.adjusted.value * outcome.mix_rows["mean"].value, 0.001
    assert_equal [:not_shown], outcomes(outcome).uniq
    assert_equal true, outcome.mix.shifted
    assert_in_delta 0.2, outcome.mix.distance_ratio, 0.03
    assert_equal ["GET /articles/:id", "POST /orders"], outcome.mix.movers.first(2).map(&:endpoint).sort
  end

  test "a changed mix does not hide what became slower, and is told apart from it" do
    random = Random.new(3)
    outcome = compare(log(random, per_s: 5), next_day(random, per_s: 5, shares: {"GET /articles/:id" => 0.8, "POST /orders" => 0.0}, slower: {"GET /articles" => 1.5, "GET /articles/:id" => 1.5}), random)
    assert_operator outcome.row("mean").ratio.value, :<, 1.05
    # POST /orders is in the first log only, and nothing is known of it.
    assert_equal :only_in_a, outcome.endpoint("POST /orders").reason
    assert_in_delta 1.5, outcome.row("mean").adjusted.value, 0.1
    assert_equal :worse, outcome.row("mean").outcome
    assert_includes outcome.remarks.map(&:kind), :other_endpoints
  end

  # @return [Array<Compare::Outcome>] of logs that differ in nothing
  def equal_logs(count, **)
    random = Random.new(4)
    Array.new(count) { compare(log(random, **), next_day(random, **), random) }
  end

  # One in twenty is what is promised; more than two of twenty would have a chance of 8%.
  test "equal logs are called different about one time in twenty" do
    decided = equal_logs(20, per_s: 1, lasts_s: 20, drift: 0.15).select { |outcome| outcome.reason.nil? }
    assert_operator decided.size, :>=, 15
    assert_operator decided.count { |outcome| (outcomes(outcome) - [:not_shown]).any? }, :<=, 2
  end

  test "where what disturbs lasts for a good part of the log, nothing is shown, as short blocks would call equal logs different" do
    outcomes = equal_logs(8, lasts_s: 600, drift: 0.3)
    assert_operator outcomes.count { |outcome| outcome.reason == :short_blocks }, :>=, 4
    alarms = outcomes.select { |outcome| outcome.reason == :short_blocks }.count { |outcome| !outcome.row("mean").ratio.covers?(1) }
    assert_operator alarms, :>=, 2, "as their intervals are too narrow"
    assert_equal [:not_shown], outcomes.select(&:reason).flat_map { |outcome| outcomes(outcome) }.uniq
  end

  def outcomes(outcome) = MadeLogs.outcomes(outcome)

  test "hours are paired: of a longer log, those of the shorter one are compared, and the rest is told" do
    random = Random.new(5)
    outcome = compare(log(random, begins_s: MONDAY_S - 3_600, seconds: 3 * 3_600), next_day(random), random)
    assert_equal :hours, outcome.pairing
    left = outcome.remarks.find { |one| one.kind == :left_hours }
    assert_equal "a", left.facts["log"]
    assert_in_delta 2 / 3.0, left.facts["ratio"], 0.03
    assert_in_delta 1, outcome.row("rate").ratio.value, 0.05
  end

  # By day slower and busier than by night, and never otherwise.
  def daily(random, days:, hours:)
    tally = Compare::Tally.new(random:, resolution_ns: Units::NS_PER_MS)
    begins_s = MONDAY_S - 10 * 3_600 + days * DAY_S
    (begins_s...begins_s + hours * 3_600).step(5) do |second|
      day = Math.sin(2 * Math::PI * (second - 8 * 3_600) / DAY_S)
      next if random.rand > (1 + 0.6 * day) / 1.6
      took_s = 0.05 * Math.exp(0.3 * MadeLogs.normal(random)) * (1 + 0.4 * day)
      tally.add("GET /", at_ns: second * Units::NS_PER_S, took_ns: (took_s * 1_000).round * Units::NS_PER_MS, status: 200)
    end
    MadeLog.new(path: "some.log", tally:)
  end

  test "hours that one log has on more days than others weigh no more in it than in the other log" do
    random = Random.new(18)
    [[24, 32], [48, 36]].each do |hours|
      outcome = compare(daily(random, days: 0, hours: hours.first), daily(random, days: 7, hours: hours.last), random)
      mean = outcome.row("mean").ratio
      assert mean.covers?(1), "#{hours} #{mean}"
      assert_in_delta 1, mean.value, 0.03
      assert_equal [:not_shown], outcomes(outcome).uniq
      assert_in_delta 1, outcome.row("rate").ratio.value, 0.03
      assert_includes outcome.remarks.map(&:kind), :left_hours
    end
  end

  test "of logs that have nearly all hours on two days, both days are compared, and the hour that is short is not" do
    random = Random.new(19)
    outcome = compare(daily(random, days: 0, hours: 47), daily(random, days: 7, hours: 47), random)
    assert_operator outcome.covered_ratio, :>, 0.9
  end

  test "a month of a few requests a day has an outcome that names them as the reason" do
    random = Random.new(20)
    outcome = compare(*[0, 35].map { |day| seldom(random, 120, seconds: 30 * DAY_S, day:) }, random)
    refute_equal :other_hours, outcome.reason
    assert_operator outcome.span_s, :<=, DAY_S / Compare::Pairing::BLOCKS_MIN
  end

  def seldom(random, count, seconds: 3_600, day: 0, factor: 1)
    tally = Compare::Tally.new(random:, resolution_ns: Units::NS_PER_MS)
    instants = Array.new(count) { MONDAY_S + day * DAY_S + random.rand(seconds.to_f) }
    instants.each { |at| tally.add("GET /", at_ns: (at * Units::NS_PER_S).to_i, took_ns: (50 * factor * Math.exp(0.3 * MadeLogs.normal(random))).round * Units::NS_PER_MS, status: 200) }
    MadeLog.new(path: "some.log", tally:)
  end

  test "logs of few requests are compared by all of them, in longer spans" do
    random = Random.new(19)
    [3_600, DAY_S].each do |seconds|
      outcome = compare(seldom(random, 900, seconds:), seldom(random, 900, seconds:, day: 1, factor: 1.5), random)
      assert_operator 900.0 * outcome.span_s / seconds, :>=, 5
      assert_equal [900, 900], [outcome.a.compared_count, outcome.b.compared_count]
      assert_equal [nil, :worse], [outcome.reason, outcome.row("mean").outcome]
      assert_in_delta 900.0 / seconds, outcome.row("rate").a, 30.0 / seconds
      refute_includes outcome.remarks.map(&:kind), :left_hours
    end
  end

  test "of too few requests that is told as the reason, and not that disturbances last" do
    random = Random.new(20)
    assert_equal :few_blocks, compare(seldom(random, 120), seldom(random, 120, day: 1), random).reason
  end

  test "logs of other hours of the day decide nothing" do
    random = Random.new(6)
    outcome = compare(log(random), log(random, begins_s: MONDAY_S + 4 * 3_600, slower: {"GET /articles" => 2}), random)
    assert_equal [:other_hours, :order], [outcome.reason, outcome.pairing]
    assert_equal [:not_shown], outcomes(outcome).uniq
    assert_operator outcome.row("mean").ratio.value, :>, 1
  end

  test "logs of other minutes of the same hour are compared, as before and after a restart" do
    random = Random.new(14)
    outcome = compare(log(random, seconds: 1_500, per_s: 5), log(random, begins_s: MONDAY_S + 1_800, seconds: 1_500, per_s: 5, slower: ENDPOINTS.transform_values { 1.5 }), random)
    assert_equal [nil, :order, :worse], [outcome.reason, outcome.pairing, outcome.row("mean").outcome]
    assert_in_delta 1.5, outcome.row("mean").adjusted.value, 0.1
  end

  test "weeks are paired by their days, which are the blocks" do
    random = Random.new(7)
    week = {seconds: 7 * DAY_S, per_s: 0.05}
    outcome = compare(log(random, **week), log(random, begins_s: MONDAY_S + 7 * DAY_S, **week, slower: ENDPOINTS.transform_values { 1.2 }), random)
    assert_equal [:week, DAY_S, nil], [outcome.pairing, outcome.block_s, outcome.reason]
    assert_operator outcome.blocks_count, :>=, 7
    assert_equal :worse, outcome.row("mean").outcome
    assert_in_delta 1.2, outcome.row("mean").adjusted.value, 0.03
    refute_includes outcome.remarks.map(&:kind), :less_than_days
  end

  test "too few requests make no comparison, and too few beyond a percentile no percentile" do
    random = Random.new(8)
    outcome = compare(log(random, per_s: 0.3), next_day(random, per_s: 0.3), random)
    assert_equal :few_requests, outcome.endpoint("POST /orders").reason
    assert_empty outcome.endpoint("POST /orders").rows
    p99 = outcome.endpoint("GET /articles/:id").rows.find { |row| row.name == "p99" }
    assert_equal [nil, :not_shown, :few_requests], [p99.ratio, p99.outcome, p99.reason]
    assert_operator p99.a, :>, 0
  end

  test "an endpoint of few hours is judged by these, and not as surely as one of all hours" do
    random = Random.new(21)
    few, too_few, with_strays = [[5, 0], [3, 0], [3, 1]].map do |hours_count, strays_count|
      per_minute = 8
      logs = [0, 1].map do |day|
        log(random, per_s: 1, begins_s: MONDAY_S + day * DAY_S, seconds: 12 * 3_600).tap do |one|
          (hours_count * 60 * per_minute).times do |number|
            second = MONDAY_S + day * DAY_S + number * 60 / per_minute
            one.tally.add("POST /imports", at_ns: second * Units::NS_PER_S, took_ns: random.rand(100..200) * Units::NS_PER_MS, status: 200)
          end
          (3...12).each do |hour|
            at_ns = (MONDAY_S + day * DAY_S + hour * 3_600 + 1_800) * Units::NS_PER_S
            strays_count.times { one.tally.add("POST /imports", at_ns:, took_ns: 150 * Units::NS_PER_MS, status: 200) }
          end
        end
      end
      compare(*logs, random)
    end
    of = ->(outcome) { outcome.endpoint("POST /imports").rows.find { |row| row.name == "mean" } }
    assert_equal few.blocks_count, few.row("mean").ratio.samples_count
    assert_includes 4..few.blocks_count / 2 + 1, of.call(few).ratio.samples_count
    [too_few, with_strays].map(&of).each do |row|
      assert_equal [nil, :not_shown, :few_requests], [row.ratio, row.outcome, row.reason]
    end
  end

  test "errors are no times, and more of them are worse" do
    random = Random.new(9)
    outcome = compare(log(random, per_s: 5, failing_ratio: 0.01), next_day(random, per_s: 5, failing_ratio: 0.03), random)
    failed = outcome.row("failed")
    assert_in_delta 0.01, failed.a, 0.003
    assert_in_delta 3, failed.ratio.value, 1
    assert_equal :worse, failed.outcome
    assert_equal :not_shown, outcome.row("mean").outcome
  end

  test "errors where there were none before are worse, and none where there were some better, though there is no ratio" do
    random = Random.new(9)
    logs = [log(random, per_s: 5), next_day(random, per_s: 5, failing_ratio: 0.02)]
    [[logs, :worse, %w[b a]], [logs.reverse, :better, %w[a b]]].each do |both, outcome, names|
      made = compare(*both, random)
      failed = made.row("failed")
      assert_equal [nil, outcome, nil], [failed.ratio, failed.outcome, failed.reason]
      said = made.remarks.find { |one| one.kind == :errors_of_one }
      assert_equal names, said.facts.values_at("log", "other")
      assert_in_delta 0.02, said.facts["ratio"], 0.005
    end
  end

  test "it is told where many requests of a log have no time, and not where a few have none" do
    random = Random.new(10)
    counts = {"b" => 2_000, nil => 20}
    counts.each do |name, count|
      made = compare(log(random, per_s: 5), next_day(random, per_s: 5).with(left_out: {no_time: count, asset: 5_000}), random)
      said = made.remarks.find { |one| one.kind == :without_time }
      assert_equal [name], [said && said.facts["log"]]
      assert_in_delta 2_000.0 / 20_000, said.facts["ratio"], 0.03 if said
    end
  end

  # One in 500 fails in b, which has ten times as many requests as a: of a's 1,800, 3.6 would, and one such log in forty
  # has no error. Swapping the sides of blocks alone would be surer than that.
  test "a log with so few requests that it may well happen to have no error is not said to have none" do
    random = Random.new(16)
    failed = compare(log(random, per_s: 0.5), next_day(random, per_s: 5, failing_ratio: 0.002), random).row("failed")
    assert_equal [0.0, :not_shown], [failed.a, failed.outcome]
    assert_operator failed.b, :>, 0.001
  end

  test "times of nothing are not called few" do
    random = Random.new(17)
    made = compare(*[log(random), next_day(random)].map { |one| one.tap { |made| made.tally.cells.each_value { |spans| spans.each_value { |cell| cell.sum_ns = 0 } } } }, random)
    assert_equal [0.0, nil, nil], made.row("mean").then { |row| [row.a, row.ratio, row.reason] }
  end

  test "more traffic is told, as queues are its" do
    random = Random.new(10)
    outcome = compare(log(random), next_day(random, per_s: 3), random)
    said = outcome.remarks.find { |one| one.kind == :other_traffic }
    assert_in_delta 1.5, said.facts["ratio"].first, 0.05
    assert_nil outcome.row("rate").outcome
  end

  test "only so many endpoints are compared as were asked for" do
    random = Random.new(11)
    outcome = compare(log(random), next_day(random), random, endpoints_max: 1)
    assert_equal [nil, :not_asked, :not_asked], outcome.endpoints.map(&:reason)
  end

  test "logs whose requests all failed can't be compared" do
    random = Random.new(12)
    assert_match(/no time in common/, assert_raises(PumaTuner::InvalidMeasurement) { compare(log(random), next_day(random, failing_ratio: 1), random) }.message)
  end

  test "an outcome can be read again" do
    random = Random.new(13)
    outcome = compare(log(random), next_day(random), random)
    assert_equal outcome, PumaTuner::Document.parse(PumaTuner::Document.dump(outcome), "a file", [:log_comparison])
  end
end
