# frozen_string_literal: true

require "test_helper"
require "support/finding_fixture"

# The intervals of a lab's claims, by themselves and together.
class LabRatiosTest < TunerTest
  include PumaTuner

  # @return [PumaTuner::Lab::Ratios::OfRounds] that scatter about the truth by some per cent
  def rounds(count, random, truth: 1.0, sd: 0.03)
    Lab::Ratios.of_pairs(Array.new(count, 1.0), Array.new(count) { truth * Math.exp(sd * normal(random)) })
  end

  def finding(ratios) = FindingFixture.finding(claims: ratios.map.with_index { |ratio, index| Lab::Claim.of_ratio("claim #{index}", ratio) })

  test "the ratio of two variants, whichever is the baseline, is that of their rounds" do
    verdict = ProofFixture.gems
    one, other = verdict.cells.map(&:variant)
    there = Lab::Ratios.of(verdict, "cpu_per_request", of: other, over: one)
    back = Lab::Ratios.of(verdict, "cpu_per_request", of: one, over: other)
    assert_in_delta 1, there.value * back.value, 1e-9
    assert_in_delta there.low, 1 / back.high, 1e-9
    assert_in_delta verdict.comparison(other, "cpu_per_request").ratio.value, there.value, 0.05
    assert_operator there.level_ratio, :>=, 0.95
    assert_nil Lab::Ratios.of(verdict, "no_such_metric", of: other, over: one)
  end

  test "an interval is exact where the rounds reach its level, else Student's, and none of fewer than six" do
    ratio = rounds(10, Random.new(1))
    assert_in_delta Stats::PairedRatio.of([1] * 10, ratio.ratios, level_ratio: 0.99).low, ratio.at(0.99).low, 1e-12
    student = Stats::StudentRatio.of([1] * 10, ratio.ratios, level_ratio: 0.999)
    assert_equal [true, student.high, 0.999], [ratio.at(0.999).low <= student.low, ratio.at(0.999).high, ratio.at(0.999).level_ratio]
    assert_equal ratio.at(0.95).value, ratio.at(0.999).value
    spiked = Lab::Ratios::OfRounds.new(ratios: [0.9, 1.04, 1.04, 1.05, 1.05, 1.06])
    assert_operator Stats::StudentRatio.of([1] * 6, spiked.ratios, level_ratio: 0.975).low, :>, spiked.low
    assert_equal spiked.low, spiked.at(0.975).low, "never surer than the widest exact one"
    assert_operator ratio.at(0.999).high, :>, ratio.at(0.99).high
    assert_nil rounds(5, Random.new(1)).at(0.95).level_ratio
    assert_nil rounds(5, Random.new(1)).at(0.999).level_ratio
  end

  test "all claims of a finding share one error" do
    random = Random.new(2)
    alone, many = [1, 30].map { |count| finding(Array.new(count) { rounds(10, random) }) }
    assert_equal [0.05, 0.05], [alone, many].map(&:family_error_ratio)
    assert_operator alone.claims.first.measured.level_ratio, :<, 0.97
    assert_in_delta 1 - 0.05 / 30, many.claims.first.measured.level_ratio, 1e-9
    assert_equal [false, true], [alone, many].map { |one| one.claims.first.student? }
    assert_match(/30 claims have 0.16% each \(Bonferroni\).*Student's t/, Report.render(many, format: :text).gsub(/\s+/, " "))
    others = [Lab::Claim.of_count("", expected: 1, counted: 1), Lab::Claim.of_ratio("", nil, published_ratio: 2), Lab::Claim.of_number("", nil, unit: "ns")]
    assert_nil FindingFixture.finding(claims: others).family_error_ratio
  end

  test "of findings in which nothing differs, hardly one says that something does, whatever the number of its claims" do
    random = Random.new(3)
    findings = Array.new(100) { Array.new(30) { rounds(8, random) } }
    wrong = findings.count { |ratios| finding(ratios).claims.any? { |claim| claim.outcome == :shown } }
    uncorrected = findings.count { |ratios| ratios.any? { |ratio| !ratio.covers?(1) } }
    assert_operator wrong, :<=, 100 * 0.1
    assert_operator uncorrected, :>, 100 * 0.5, "by their own 95%, most do"
  end
end
