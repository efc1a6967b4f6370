# frozen_string_literal: true

require "test_helper"

class StudentRatioTest < TunerTest
  StudentRatio = PumaTuner::Stats::StudentRatio

  # Student's own example (1908): hours of sleep gained by one drug over another. The interval is R's t.test(extra).
  SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4].freeze

  def logs(estimate) = [estimate.value, estimate.low, estimate.high].map { |number| Math.log(number) }

  test "gives Student's example its interval" do
    found = logs(StudentRatio.of([1] * 10, SLEEP.map { |hours| Math.exp(hours) }))
    [1.58, 0.7001142, 2.4598858].zip(found).each { |wanted, number| assert_in_delta wanted, number, 1e-7 }
  end

  test "keeps its level, and widens with it" do
    narrow, wide = [0.9, 0.99].map { |level_ratio| StudentRatio.of([1, 2, 3], [2, 3, 7], level_ratio:) }
    assert_equal [0.9, 0.99, 3], [narrow.level_ratio, wide.level_ratio, wide.samples_count]
    assert_operator wide.low, :<, narrow.low
    assert_operator wide.high, :>, narrow.high
  end

  test "turns over when the two change places" do
    there, back = StudentRatio.of([1, 2, 3], [2, 3, 7]), StudentRatio.of([2, 3, 7], [1, 2, 3])
    assert_in_delta 1, there.value * back.value, 1e-12
    assert_in_delta 1, there.low * back.high, 1e-12
  end

  test "is nil for a single pair" do
    assert_nil StudentRatio.of([1], [2])
  end

  test "is nil for two pairs so far apart that they tell nothing, and no number that a document can't hold" do
    assert_nil StudentRatio.of([5, 5], [5, 25], level_ratio: 0.983)
    assert_in_epsilon Math.sqrt(5), StudentRatio.of([5] * 8, [5, 25] * 4, level_ratio: 0.983).value
  end
end
