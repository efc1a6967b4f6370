# frozen_string_literal: true

require "test_helper"

class LabOutcomeTest < TunerTest
  include PumaTuner

  def interval(low, high, level_ratio: 0.95)
    Stats::Estimate.new(value: Math.sqrt(low * high), low:, high:, level_ratio:, samples_count: 10)
  end

  def claim(published, low, high, **others) = Lab::Claim.of_ratio("", interval(low, high, **others), published_ratio: published)

  def outcome(...) = claim(...).then { |one| [one.outcome, one.detail].compact }

  test "an interval that lies inside the margin, all of it, reproduces" do
    assert_equal [:reproduced], outcome(1.27, 1.2, 1.3)
    assert_equal [:reproduced], outcome(0.42, 0.40, 0.45)
    assert_equal [:reproduced], outcome(0.7, 0.67, 0.69), "though 0.7 is not in it"
  end

  test "an interval that reaches beyond the margin says neither, however surely it covers what was published" do
    assert_equal [:compatible], outcome(1.27, 1.2, 1.45)
    assert_equal [:compatible], outcome(1.27, 0.5, 3.0)
    assert_equal [:compatible], outcome(1.69, 1.4, 1.6)
  end

  test "an interval that is clear of the margin contradicts, and tells which way it went" do
    assert_equal %i[contradicted less], outcome(1.69, 1.2, 1.3)
    assert_equal %i[contradicted more], outcome(1.69, 1.9, 2.0)
    assert_equal %i[contradicted less], outcome(0.42, 0.47, 0.48)
    assert_equal %i[contradicted more], outcome(0.42, 0.30, 0.35)
    assert_equal %i[contradicted other_direction], outcome(1.27, 0.8, 0.95)
    assert_equal %i[contradicted no_direction], outcome(1.69, 0.9, 1.2)
  end

  test "that there is no difference is reproduced by a narrow interval alone" do
    assert_equal [:reproduced], outcome(1, 0.97, 1.02)
    assert_equal [:reproduced], outcome(1, 0.973, 0.981), "clear of 1, and a difference of two per cent"
    assert_equal [:compatible], outcome(1, 0.93, 1.0)
    assert_equal [:compatible], outcome(1, 0.5, 2.0)
    assert_equal [:contradicted], outcome(1, 0.90, 0.94)
  end

  # Whatever is true, more noise must not reproduce more.
  test "the wider the interval, the less it reproduces and contradicts" do
    [1, 1.27, 0.5].each do |published|
      [1, 1.27, 0.5].each do |truth|
        outcomes = [1.001, 1.02, 1.2, 4].map { |half| outcome(published, truth / half, truth * half).first }
        assert_equal [(published == truth) ? :reproduced : :contradicted, :compatible], outcomes.values_at(0, -1)
        assert_equal outcomes.sort_by { |one| (one == :compatible) ? 1 : 0 }, outcomes
      end
    end
  end

  test "a published span holds what lies in it and in its margin, and a published direction all on its side of 1" do
    assert_equal [[:reproduced], [:reproduced], [:compatible], %i[contradicted more], %i[contradicted less]], [[6, 8], [14, 16], [15.5, 17], [17, 18], [2, 3]].map { |low, high| outcome(5..15, low, high) }
    assert_equal [[:reproduced], %i[contradicted other_direction], [:compatible]], [[1.1, 9], [0.7, 0.9], [0.9, 1.1]].map { |low, high| outcome(Lab::Claim::HIGHER, low, high) }
    assert_equal [%i[contradicted other_direction], [:reproduced], [:compatible]], [[1.1, 9], [0.7, 0.9], [0.9, 1.1]].map { |low, high| outcome(Lab::Claim::LOWER, low, high) }
    assert_nil Lab::Claim.of_ratio("", nil, published_ratio: 5..15).published_ratio
  end

  test "a margin is a tenth of an effect and a twentieth of none, is declared with the claim, and never reaches from an effect to none" do
    assert_in_delta 2.0 * 1.1, Lab::Margin.of(2.0).high
    assert_in_delta 2.0 / 1.1, Lab::Margin.of(2.0).low
    assert_in_delta 1 / 1.05, Lab::Margin.of(1).low
    assert_in_delta Math.sqrt(1.1), Lab::Margin.of(1.1).low, 1e-9, "half of a small effect"
    assert_in_delta Math.sqrt(0.89), Lab::Margin.of(0.89).high, 1e-9
    assert_equal %i[contradicted no_direction], outcome(1.031, 0.999, 1.001)
    assert_in_delta 1.02, Lab::Margin.of(1, 0.02).high
    assert_equal [nil, nil], [Lab::Margin.of(Lab::Claim::HIGHER).high, Lab::Margin.of(Lab::Claim::LOWER).low]
    assert_match(/covers 1/, assert_raises(ArgumentError) { Lab::Margin.of(1.05, 0.1) }.message)
    assert_equal :compatible, Lab::Claim.of_ratio("", interval(0.97, 1.03), published_ratio: 1, margin_ratio: 0.02).outcome
  end

  test "too few rounds for an interval show nothing" do
    assert_equal [:not_shown], outcome(1.27, 1.2, 1.3, level_ratio: nil)
    assert_equal [:not_shown], outcome(1, 0.99, 1.01, level_ratio: nil)
  end

  test "a finding that nobody published is shown or not, and what was not measured says so" do
    assert_equal [:shown], outcome(nil, 1.2, 1.3)
    assert_equal [:not_shown], outcome(nil, 0.9, 1.3)
    assert_equal [:not_measured, :not_measured], [1.27, nil].map { |published_ratio| Lab::Claim.of_ratio("", nil, published_ratio:).outcome }
  end

  test "counts are exact or differ, by one too" do
    assert_equal :exact, Lab::Outcome.of_count(44_528, 44_528)
    assert_equal :differs, Lab::Outcome.of_count(44_528, 44_527)
    assert_equal :differs, Lab::Outcome.of_count(0, 1)
    assert_equal :not_measured, Lab::Outcome.of_count(0, nil)
  end
end
