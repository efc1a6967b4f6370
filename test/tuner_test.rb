# frozen_string_literal: true

require "test_helper"
require "support/builders"

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
