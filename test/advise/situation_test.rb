# frozen_string_literal: true

require "test_helper"
require "support/advising"

class SituationTest < TunerTest
  include Advising

  # @yieldparam changes [Hash]
  def situation(today: forecast("1x5", 100), observation: nil, of: workload, &forecasts)
    sweeper = Object.new
    sweeper.define_singleton_method(:alternative) { |**changes| forecasts.call(changes) }
    Advise::Situation.new(of, sweep(today), observation:, sweeper: forecasts && sweeper)
  end

  test "the effect of a change is its forecast over today's, under today's load" do
    asked = []
    effect = situation { |changes| asked << changes and forecast("1x5", 150, p99_ms: 80) }.effect(affinity: true)
    assert_in_delta 1.5, effect.throughput_ratio.value
    assert_in_delta 0.8, effect.p99_ratio.value
    assert_equal [{what_if: [], arrivals: Model::Arrivals.closed(10), affinity: true}], asked
    assert_predicate effect, :gain?
  end

  test "the same change is forecast once" do
    count = 0
    situation = situation { |_| (count += 1) and forecast("1x5", 150) }
    3.times { situation.effect(what_if: ["gc=0"]) }
    assert_equal 1, count
  end

  test "in an open loop the gain is of p99, as throughput is the load's own" do
    open_loop = Model::Arrivals.open(100)
    effect = situation(today: forecast("1x5", 100, arrivals: open_loop)) { |_| forecast("1x5", 100, p99_ms: 50, arrivals: open_loop) }.effect(affinity: true)
    assert_in_delta 2.0, effect.gain
    assert_predicate effect, :gain?
  end

  test "nothing is forecast without a sweeper, of a model that can't be trusted, and of what can't be assumed" do
    assert_nil situation.effect(what_if: ["gc=0"])
    figure = Predict::CheckedFigure.new(metric: "throughput", recorded: 100.0, simulated: estimate(130.0), error_ratio: 0.3, beyond_noise: true)
    setting = Predict::CheckedSetting.new(scenario: scenario("1x5"), figures: [figure], cause: nil)
    untrusted = sweep(forecast("1x5", 1)).with(self_check: Predict::SelfCheck.new(settings: [setting]))
    assert_nil Advise::Situation.new(workload, untrusted, sweeper: Forecasting.new(->(*) { flunk })).effect(what_if: ["gc=0"])
    assert_nil(situation { |_| raise UsageError, "there is no endpoint" }.effect(what_if: ["io(db, GET /)*0.1"]))
  end

  test "a change overloads a server that bears its load today, and has no steady state with it" do
    unsteady = forecast("1x5", 100).with(unsteady: "the queue grows")
    assert situation { |_| unsteady }.overloads?(affinity: true)
    refute situation { |_| forecast("1x5", 100) }.overloads?(affinity: true)
    refute situation(today: unsteady) { |_| unsteady }.overloads?(affinity: true)
    refute situation.overloads?(affinity: true), "nothing can be forecast"
  end

  test "shares are of the time with a thread" do
    budget = Probe::Budget.zero.with(wall_ns: 1_000, queue_ns: 500, db_ns: 250)
    situation = situation(observation: observation.with(budget:))
    assert_in_delta 0.5, situation.share(:db)
    assert_nil situation.share(:client)
    assert_nil Advise::Situation.new(workload, sweep(forecast("1x5", 1))).share(:db)
  end

  test "settings and versions are those that the server told, and nil where it did not" do
    told = situation(observation: in_force(observation, "gem rails": "8.1.0", "env WEB_CONCURRENCY": "auto", "gem odd": "not a version"))
    assert_equal [Gem::Version.new("8.1.0"), nil, nil, "auto"], [told.gem("rails"), told.gem("odd"), told.gem("sequel"), told.setting(:env, "WEB_CONCURRENCY")]
    assert_nil situation.gem("rails")
    assert_nil situation(of: workload.with(puma_version: nil)).puma_version
  end
end
