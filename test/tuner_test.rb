# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/tuning_fixture"

# What a tuning puts into its proof; the whole arrow is in integration/tune_test.rb.
class TunerVariantsTest < TunerTest
  include Builders

  def variants(error_ratio:, checked: [])
    figure = Predict::CheckedFigure.new(metric: "throughput", recorded: 100.0, simulated: estimate(100.0 * (1 + error_ratio)), error_ratio:, beyond_noise: true)
    check = Predict::SelfCheck.new(settings: [Predict::CheckedSetting.new(scenario: scenario("1x5"), figures: [figure], cause: PumaTuner::Statement.of(:no_part))])
    predicted = sweep(forecast("1x5", 100), forecast("2x1", 120), forecast("2x3", 190), forecast("2x7", 240)).with(self_check: check)
    nothing = Tuner::Plan.members.to_h { |member| [member, nil] }
    plan = Tuner::Plan.new(**nothing, constraints: Advise::Constraints.new, checked_topologies: checked.map { |text| topology(text) })
    advice_list = Advise::Advisor.new(plan.constraints).call(workload, predicted)
    Tuner.new(plan, progress: nil).send(:variants_of, predicted, advice_list).map { |variant| [variant.name, variant.factors.fetch("topology")] }
  end

  test "the recommended setting is proven beside today's" do
    assert_equal [%w[today 1x5], %w[recommended 2x7]], variants(error_ratio: 0.1)
  end

  test "without a recommendation for want of trust, the likeliest settings are measured instead of one" do
    assert_equal [%w[today 1x5], %w[2x7 2x7], %w[2x3 2x3], %w[2x1 2x1]], variants(error_ratio: 0.3)
    assert_equal [%w[today 1x5], %w[2x7 2x7], %w[2x3 2x3], %w[2x1 2x1], %w[1x1 1x1]], variants(error_ratio: 0.3, checked: %w[2x3 1x1 1x5])
  end
end

# What a tuning leaves for the next forecasts of its app.
class TunerTrackRecordTest < TunerTest
  include Builders

  # @return [Hash, nil] what the record has of the app afterwards
  def remembered(verdict:, taken_ratio: nil)
    Dir.mktmpdir do |folder|
      record = Predict::TrackRecord.new(File.join(folder, "forecasts.json"))
      nothing = Tuner::Plan.members.to_h { |member| [member, nil] }
      tuner = Tuner.new(Tuner::Plan.new(**nothing, track_record: record), progress: nil)
      recorded = observation(load: load_summary.with(taken_ratio:))
      tuner.send(:remember, verdict, sweep(forecast("1x5", 100), forecast("2x3", 190)), recorded, machine)
      record.past_error("") # no app was measured
    end
  end

  def disturbed(ratio) = Prove::Disturbed.new(taken_ratio: estimate(ratio), again_count: 0, explained_ratio: nil, quiet_effect_ratio: nil)

  test "a quiet proof tells how good the forecasts were" do
    assert_equal 2, remembered(verdict: TuningFixture.verdict)["checks_count"]
    assert_equal 2, remembered(verdict: TuningFixture.verdict.with(disturbed: disturbed(0.1)), taken_ratio: 0.1)["checks_count"]
  end

  test "a proof beside others, or one that ended early, tells nothing of the forecasts" do
    assert_nil remembered(verdict: TuningFixture.verdict.with(disturbed: disturbed(0.4)))
    assert_nil remembered(verdict: TuningFixture.verdict.with(complete: false))
  end

  test "nor does a proof of what was recorded beside others" do
    assert_nil remembered(verdict: TuningFixture.verdict, taken_ratio: 0.4)
  end
end
