# frozen_string_literal: true

require "test_helper"
require "support/tradeoffs"
require_relative "../../../labs/02-csp-collector/lab"

# What the collector's lab says of its rounds, from values written by hand.
class CspMeasuredTest < TunerTest
  include PumaTuner

  Rungs = Labs::CspRungs

  # CPU in µs and PSS in MiB: the published ratios, but for what stands for the loop.
  LADDER = {Rungs::MONOLITH => [1_900, 400], Rungs::RAILS => [99, 80], Rungs::THIN => [49.7, 75], Rungs::RACK => [22.7, 40], Rungs::BEST => [9, 30]}.freeze

  def verdict(variants) = Tradeoffs.study(variants).verdict

  def overload(variant, created: 100, lines: created)
    Labs::CspOverload::Result.new(variant:, capacity_per_s: 500.0, cpu_ns: 90_000.0, kernel_ratio: 0.5, rate_per_s: 1_000, due_count: created, created_count: created,
      shed_count: 0, other_count: 0, unanswered_count: 0, broken_count: 0, lines_count: lines, p50_ns: 1_000_000, p99_ns: 2_000_000)
  end

  # @param cells [Hash{String => Float}] requests per second that are forecast, by topology; the first is today's
  def sweep(cells)
    cells = cells.map do |text, per_s|
      number = Stats::Estimate.of_range([per_s])
      scenario = Predict::Scenario.of(Topology.parse(text), Model::Arrivals.closed(10))
      Predict::Forecast.new(scenario:, unsteady: nil, throughput_per_s: number, mean_ns: number, p50_ns: number, p90_ns: number, p99_ns: number, budget: nil, gvl_wait_ns: 0,
        queue_ns: 0, slices_per_request: 0, cores_used: 1, memory_bytes: nil, bottleneck: "gvl", closed_forms: nil)
    end
    Predict::Sweep.new(forecasts: cells, today: cells.first.topology, rule_of_thumb_threads_count: 1, arrivals: cells.first.scenario.arrivals, what_if: [], seed: 1, seeds_count: 1,
      **(Predict::Sweep.members - %i[forecasts today rule_of_thumb_threads_count arrivals what_if seed seeds_count curves]).to_h { |name| [name, nil] })
  end

  def measured(ladder: LADDER, overloads: [], sweep: nil, **more)
    Labs::CspMeasured.new(verdicts: {Labs::CspMeasured::LADDER => verdict(ladder), **more.transform_keys { |name| Labs::CspMeasured.const_get(name) }}, overloads:, sweep:)
  end

  def claim(measured, beginning) = measured.claims.find { |claim| claim.text.start_with?(beginning) } || flunk("no claim #{beginning}")

  test "each step of the ladder is held against the published one" do
    story = measured
    assert_equal [:reproduced] * 2, ["bare Rack over thin Rails app, by CPU time", "thin Rails app over new Rails app, by CPU time"].map { |text| claim(story, text).outcome }
    slower = measured(ladder: LADDER.merge(Rungs::THIN => [99, 75]))
    steps = ["thin Rails app over new Rails app, by CPU time", "bare Rack over thin Rails app, by CPU time"].map { |text| claim(slower, text) }
    assert_equal [[:contradicted, :no_direction], [:contradicted, :more]], steps.map { |step| [step.outcome, step.detail] }
  end

  # CPU in µs and PSS in MiB
  STEP = {Rungs::RAILS => [100, 80], Rungs::TWO_THREADS => [98, 80], Rungs::NO_MIDDLEWARES => [88, 75], "#{Rungs::NO_MIDDLEWARES}, #{Rungs::TWO_THREADS}" => [87, 75],
          Rungs::IN_DEVELOPMENT => [400, 90], Rungs::NO_MIDDLEWARES_IN_DEVELOPMENT => [210, 85],
          "#{Rungs::NO_MIDDLEWARES_IN_DEVELOPMENT}, #{Rungs::TWO_THREADS}" => [200.6, 85]}.freeze

  test "the published step is held against either settings, and the threads are told apart" do
    story = measured(STEP_TITLE: verdict(STEP))
    claims = [*%w[production development].map { |settings| "no middlewares and two threads over all and three, in #{settings}'s" }, "two threads over three"].map { |text| claim(story, text) }
    assert_equal [PumaTuner::Labs::CspMeasured::PUBLISHED_PER_S.values_at(Rungs::THIN, Rungs::RAILS).inject(:/)] * 2 + [nil], claims.map(&:published_ratio)
    assert_match(/13 middlewares for such an app in production, and 17 in development: as many as were removed/, story.conclusions.join)
  end

  test "the story's own factor stands before that of a loop" do
    assert_match(/By the story's own means, from the shop to bare Rack, requests\/s are 8\d.*84x, of an error page.*own loop, which is no web server, has 2\d\d/, measured.conclusions.first)
  end

  test "error pages are held against the published factor, and against what they stand for" do
    pages = {Rungs::MONOLITH => [1_900, 400], **Rungs::FAILING.transform_values { [22.7 * 83.8, 400] }, Rungs::RACK => [22.7, 40]}
    story = measured(ERROR_PAGES_TITLE: verdict(pages))
    Rungs::FAILING.each_key { |page| assert_match(/84x, of an error page/, claim(story, "bare Rack over the #{page}").published) }
    assert_nil claim(story, "the shop's 500 in development over its answer 201").published_ratio
  end

  # For so many, ten rounds are an exact interval.
  test "the long form has 25 claims that intervals decide" do
    like = ->(names) { verdict(names.to_h { |name| [name, [100, 80]] }) }
    settings = {Rungs::RACK => [22.7, 40], "as advised: 2x2" => [11.4, 80]}
    whole = measured(sweep: sweep("1x2" => 100.0, "2x2" => 200.0), SETTINGS_TITLE: verdict(settings), STEP_TITLE: verdict(STEP), SHOP_SERVERS_TITLE: like.call(Rungs::SHOP_SERVERS.keys),
      ERROR_PAGES_TITLE: like.call(Rungs::ERROR_PAGES.keys), JSON_VERSIONS: like.call(Rungs::JSON_VERSIONS.keys), EACH_TITLE: like.call(Rungs::EACH_MIDDLEWARE.keys))
    assert_equal 25, whole.claims.count(&:by_interval?)
    exact = Stats::PairedRatio.rank_and_level(Labs::CspCollector::FULL.fetch(:rounds_count), 1 - Lab::Claim::FAMILY_ERROR_RATIO / 25).last
    refute_nil exact
  end

  test "each middleware's table tells what is gone with it" do
    each = {Rungs::RAILS => [100, 80], "without Rack::ETag" => [90, 80], "without Rack::Head" => [101, 80]}
    rows = measured(EACH_TITLE: verdict(each)).tables.find { |table| table.title == "What each middleware costs a request" }.rows
    assert_equal ["Rack::ETag", "Rack::Head"], rows.map(&:first)
    assert_match(/\A10(\.0+)? µs/, rows[0][1])
    assert_match(/\A-1(\.0+)? µs/, rows[1][1])
  end

  test "what was aimed at is reached by the whole interval, or not shown" do
    reached = measured
    assert_match(/2x at least, which the whole interval is/, claim(reached, "own loop over bare Rack").note)
    assert_match(/84x at least, which the whole interval is/, claim(reached, "own loop over shop, requests").note)
    short = measured(ladder: LADDER.merge(Rungs::BEST => [11.4, 30]))
    assert_match(/2x at least, which is not shown/, claim(short, "own loop over bare Rack").note)
    assert_match(/does not show the 2 times/, short.conclusions.join)
  end

  test "a report that was acknowledged and is not there, or that nobody sent, is told" do
    assert_equal :exact, claim(measured(overloads: [overload(Rungs::BEST)]), "answers 201 that are no line").outcome
    [99, 101].each do |lines|
      lost = measured(overloads: [overload(Rungs::RACK), overload(Rungs::BEST, lines:)])
      assert_equal :differs, claim(lost, "answers 201 that are no line, own loop").outcome
      assert_match(/do not agree/, lost.conclusions.join)
    end
  end

  test "what the predictor advised is held against what came of it" do
    settings = {Rungs::RACK => [22.7, 40], "as advised: 2x2" => [11.4, 80], "two workers of one thread" => [12, 80]}
    advised = measured(sweep: sweep("1x2" => 100.0, "2x2" => 200.0, "2x1" => 150.0), SETTINGS_TITLE: verdict(settings))
    row = claim(advised, "2x2, as the predictor advises, over bare Rack at 1x2")
    assert_in_delta 2.0, row.published_ratio
    assert_in_delta 22.7 / 11.4, row.measured.value, 0.05
    one = measured(sweep: sweep("1x2" => 100.0, "2x2" => 120.0, "2x1" => 150.0), SETTINGS_TITLE: verdict(settings))
    assert_in_delta 22.7 / 12, claim(one, "2x1, as the predictor advises").measured.value, 0.05
    stays = measured(sweep: sweep("1x2" => 100.0, "2x2" => 50.0), SETTINGS_TITLE: verdict(settings))
    assert(stays.claims.none? { |each| each.text.include?("predictor") })
  end

  test "an advised setting that is among the others is measured once" do
    names = ->(text) { Rungs.settings(text && Topology.parse(text)).keys }
    assert_equal Rungs::SETTINGS.keys, names.call(nil)
    assert_equal Rungs::SETTINGS.keys, names.call("2x1")
    assert_equal ["as advised: 2x3"], names.call("2x3") - Rungs::SETTINGS.keys
  end

  test "tables and charts name all rungs" do
    story = measured(overloads: [overload(Rungs::BEST)])
    assert_equal LADDER.keys, story.tables.first.rows.map(&:first)
    assert_equal 3, story.tables.size
    published, requests, = story.charts.first.series
    assert_in_delta 83.8, published.points.last[1], 0.1
    assert_in_delta 1_900 / 9.0, requests.points.last[1], 0.1
  end
end
