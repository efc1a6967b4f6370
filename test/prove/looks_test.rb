# frozen_string_literal: true

require "test_helper"

class LooksTest < TunerTest
  Looks = PumaTuner::Prove::Looks

  def estimate(low, high, level_ratio: 0.95) = PumaTuner::Stats::Estimate.new(value: (low + high) / 2, low:, high:, level_ratio:, samples_count: 10)

  test "one look has all of the 5 percent" do
    looks = Looks.fixed(12)
    assert_equal [12, false, "12"], [looks.rounds_max, looks.several?, looks.to_s]
    assert_in_delta 0.95, looks.level_ratio
    assert looks.at?(12)
    refute looks.at?(11)
  end

  test "several looks and several variants share it" do
    looks = Looks.stepwise([10, 20, 40])
    assert_equal [40, true, "10, 20, 40"], [looks.rounds_max, looks.several?, looks.to_s]
    assert_equal [10, 20, 40], (1..40).select { |count| looks.at?(count) }
    assert_in_delta 1 - 0.05 / 3, looks.level_ratio, 1e-12
    assert_in_delta 1 - 0.05 / 6, looks.level_ratio(2), 1e-12
    assert_in_delta 0.95, Looks.fixed(6).level_ratio(0), 1e-12
  end

  test "a level needs so many rounds at least" do
    assert_equal [6, 7, 7, 8], [Looks.fixed(12).least_rounds_count, Looks.fixed(12).least_rounds_count(2),
      Looks.stepwise([1, 2, 3]).least_rounds_count, Looks.stepwise([1, 2, 3]).least_rounds_count(2)]
  end

  test "where nobody says how many, there are eight, or one more than it takes to show anything of so many variants" do
    assert_equal [8, 8, 8, 9, 11], [1, 2, 3, 4, 23].map { |count| Looks.usual(count).rounds_max }
  end

  test "a difference decides, and that there is none that matters" do
    looks = Looks.fixed(12)
    assert looks.decided?(estimate(1.01, 1.2), 0.02)
    assert looks.decided?(estimate(0.8, 0.9), 0.02)
    assert looks.decided?(estimate(0.985, 1.015), 0.02)
    refute looks.decided?(estimate(0.97, 1.015), 0.02)
    refute looks.decided?(estimate(1.5, 1.6, level_ratio: nil), 0.02)
    refute looks.decided?(nil, 0.02)
  end

  test "looks must ascend" do
    [[], [0, 5], [10, 10], [20, 10]].each { |counts| assert_raises(PumaTuner::UsageError, counts.inspect) { Looks.stepwise(counts) } }
  end
end
