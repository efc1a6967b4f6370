# frozen_string_literal: true

require "test_helper"
require "support/finding_fixture"

class LabFindingTest < TunerTest
  include PumaTuner

  test "what is written is read again, verdicts whole" do
    finding = FindingFixture.finding
    again = Document.parse(Document.dump(finding), "finding.json", [:finding])
    assert_equal finding, again
    assert_equal ProofFixture.blocks.trials, again.verdicts.fetch("parent query").trials
    assert_predicate again.verdicts, :frozen?
  end

  test "an outcome that somebody typed is not believed" do
    claim = FindingFixture.claims.first
    assert_equal "reproduced", claim.outcome
    assert_equal "reproduced", Lab::Claim.new(**claim.to_h, outcome: "contradicted").outcome
    edited = Document.dump(FindingFixture.finding).gsub('"outcome":"differs"', '"outcome":"exact"')
    assert_equal "differs", Document.parse(edited, "edited.json", [:finding]).claims.find { |one| one.text == "locks per query, cured" }.outcome
  end

  test "each claim has the outcome that its numbers give" do
    assert_equal ["reproduced", "same direction, less", "contradicted", "not shown", "shown", "not measured", "exact", "differs", nil], FindingFixture.claims.map(&:outcome)
  end

  test "counts that are not what they should be are told apart" do
    assert_equal ["locks per query, cured"], FindingFixture.finding.broken_counts.map(&:text)
  end

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
end
