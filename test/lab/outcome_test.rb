# frozen_string_literal: true

require "test_helper"

class LabOutcomeTest < TunerTest
  include PumaTuner

  def interval(low, high, level_ratio: 0.95)
    Stats::Estimate.new(value: Math.sqrt(low * high), low:, high:, level_ratio:, samples_count: 10)
  end

  def of_ratio(published, low, high) = Lab::Outcome.of_ratio(published, interval(low, high))

  test "a published ratio inside the interval is reproduced, at its ends too" do
    assert_equal "reproduced", of_ratio(1.27, 1.2, 1.3)
    assert_equal "reproduced", of_ratio(1.3, 1.2, 1.3)
    assert_equal "reproduced", of_ratio(0.42, 0.40, 0.45)
  end

  test "outside the interval, the direction decides, and how far it goes" do
    assert_equal "same direction, less", of_ratio(1.69, 1.2, 1.3)
    assert_equal "same direction, more", of_ratio(1.69, 1.8, 2.0)
    assert_equal "same direction, less", of_ratio(0.42, 0.47, 0.48)
    assert_equal "same direction, more", of_ratio(0.42, 0.30, 0.35)
  end

  test "an interval on the other side of 1 contradicts" do
    assert_equal "contradicted", of_ratio(1.27, 0.8, 0.95)
    assert_equal "contradicted", of_ratio(0.42, 1.01, 1.2)
  end

  test "an interval that covers 1 shows nothing, though the published ratio may lie in it" do
    assert_equal "not shown", of_ratio(1.05, 0.9, 1.2)
    assert_equal "not shown", of_ratio(1.27, 0.99, 1.1)
    assert_equal "not shown", of_ratio(1.27, 1.0, 1.1)
  end

  test "that there is no difference is reproduced by an interval that covers 1, and contradicted by any other" do
    assert_equal "reproduced", of_ratio(1, 0.97, 1.02)
    assert_equal "contradicted", of_ratio(1, 1.01, 1.02)
  end

  test "a published span holds what lies in it, and a published direction all on its side of 1" do
    outcome = ->(published, low, high) { Lab::Claim.of_ratio("", interval(low, high), published_ratio: published).outcome }
    assert_equal ["reproduced", "same direction, more", "same direction, less"], [[6, 8], [15.5, 17], [2, 3]].map { |low, high| outcome.call(5..15, low, high) }
    assert_equal ["reproduced", "contradicted", "not shown"], [[1.1, 9], [0.7, 0.9], [0.9, 1.1]].map { |low, high| outcome.call(Lab::Claim::HIGHER, low, high) }
    assert_equal ["contradicted", "reproduced", "not shown"], [[1.1, 9], [0.7, 0.9], [0.9, 1.1]].map { |low, high| outcome.call(Lab::Claim::LOWER, low, high) }
    assert_nil Lab::Claim.of_ratio("", nil, published_ratio: 5..15).published_ratio
  end

  test "too few rounds for an interval show nothing" do
    assert_equal "not shown", Lab::Outcome.of_ratio(1.27, interval(1.2, 1.3, level_ratio: nil))
  end

  test "a finding that nobody published is shown or not, and what was not measured says so" do
    assert_equal "shown", of_ratio(nil, 1.2, 1.3)
    assert_equal "not shown", of_ratio(nil, 0.9, 1.3)
    assert_equal "not measured", Lab::Outcome.of_ratio(1.27, nil)
    assert_equal "not measured", Lab::Outcome.of_ratio(nil, nil)
  end

  test "counts are exact or differ, by one too" do
    assert_equal "exact", Lab::Outcome.of_count(44_528, 44_528)
    assert_equal "differs", Lab::Outcome.of_count(44_528, 44_527)
    assert_equal "differs", Lab::Outcome.of_count(0, 1)
    assert_equal "not measured", Lab::Outcome.of_count(0, nil)
  end
end
