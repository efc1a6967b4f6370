# frozen_string_literal: true

require "test_helper"

class ProveOutcomeTest < TunerTest
  def outcome(low, high, more_is_better: true, level_ratio: 0.95)
    ratio = PumaTuner::Stats::Estimate.new(value: (low + high) / 2, low:, high:, level_ratio:, samples_count: 10)
    PumaTuner::Prove::Outcome.of(ratio, more_is_better:, equivalent_ratio: 0.02)
  end

  test "an interval clear of 1 is better or worse, by what is wanted" do
    assert_equal %i[better worse], [outcome(1.1, 1.3), outcome(0.7, 0.9)]
    assert_equal %i[worse better], [outcome(1.1, 1.3, more_is_better: false), outcome(0.7, 0.9, more_is_better: false)]
  end

  test "a small interval around 1 is equivalent, even when it is clear of 1" do
    assert_equal %i[equivalent equivalent], [outcome(0.985, 1.01), outcome(1.005, 1.02)]
    assert_equal %i[better better], [outcome(1.005, 1.021), outcome(1.03, 1.031)]
  end

  test "a wide one shows nothing" do
    assert_equal :not_shown, outcome(0.97, 1.01)
  end

  test "an interval of no level shows nothing" do
    assert_equal :not_shown, outcome(3.0, 4.0, level_ratio: nil)
  end
end
