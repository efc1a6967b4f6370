# frozen_string_literal: true

require "test_helper"
require "json"
require "support/finding_fixture"

class LabFindingTest < TunerTest
  include PumaTuner

  test "what is written is read again, verdicts whole" do
    finding = FindingFixture.finding
    again = Document.parse(Document.dump(finding), "finding.json", [:finding])
    assert_equal finding, again
    assert_equal 0.1, JSON.parse(Document.dump(finding))["claims"].first.dig("margin", "ratio")
    assert_equal ProofFixture.blocks.trials, again.verdicts.fetch("parent query").trials
    assert_predicate again.verdicts, :frozen?
  end

  test "an outcome that somebody typed is not believed" do
    claim = FindingFixture.claims.first
    assert_equal :reproduced, claim.outcome
    assert_equal :reproduced, Lab::Claim.new(**claim.to_h, outcome: "contradicted").outcome
    edited = Document.dump(FindingFixture.finding).gsub('"outcome":"differs"', '"outcome":"exact"')
    assert_equal :differs, Document.parse(edited, "edited.json", [:finding]).claims.find { |one| one.text == "locks per query, cured" }.outcome
  end

  test "each claim has the outcome that its numbers give" do
    assert_equal [:reproduced, :contradicted, :contradicted, :compatible, :shown, :not_measured, :exact, :differs, nil], FindingFixture.claims.map(&:outcome)
  end

  test "a file of before there were margins and rounds is read, with the default margin, and says so" do
    document = JSON.parse(Document.dump(FindingFixture.finding)).except("family_error_ratio")
    document["claims"].each { |claim| %w[margin round_ratios detail].each { |name| claim.delete(name) } }
    again = Document.parse(JSON.generate(document), "old.json", [:finding])
    claim = again.claims.first
    assert_equal :reproduced, claim.outcome
    assert_equal false, claim.margin.declared
    assert_in_delta 1.27 * 1.1, claim.margin.high
    assert_nil again.family_error_ratio
    text = Report.render(again, format: :text).gsub(/\s+/, " ")
    assert_includes text, "±10%: 1.15–1.40, the default, as none was declared"
    assert_includes text, "Each claim's interval is at its own level"
  end
end
