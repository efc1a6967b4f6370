# frozen_string_literal: true

require "test_helper"

# Lab 01 in its short form: real runs, exact counts. How fast it is here is no matter.
class FalsyCacheLabTest < TunerTest
  include PumaTuner

  time_limit 240

  def lab = Lab.find("falsy_cache")

  test "counts are those of the talk, the cure takes no lock, and the report tells them" do
    skip "its gems are not installed: puma_tuner lab setup falsy_cache --quick" if Lab::Gems.missing(lab.gems(quick: true)).any?
    notes = []
    finding = lab.call(Lab::Run.new(lab, quick: true, say: ->(text) { notes << text }, command: "puma_tuner lab run falsy_cache --quick"))
    assert_counts(finding)
    refute_includes finding.claims.map(&:outcome), :differs
    assert_first_query(finding)
    assert_speeds(finding)
    assert_includes notes.join("\n"), "round 6 of 6"
    %i[text html markdown].each { |format| assert_includes Report.render(finding, format:), "44,528" }
    assert_equal finding, Document.parse(Document.dump(finding), "finding", [:finding])
    skip "its repository was not fetched" unless Labs::FalsyCache::SCRIPT.there?
  end

  def assert_counts(finding)
    counted = finding.claims.select(&:exact).to_h { |claim| [claim.text, claim.exact.counted] }
    assert_equal 19_241, counted["resolve_value per parent query, concurrent-ruby 1.1.6"]
    assert_equal 24_284, counted["after_lazy per parent query, concurrent-ruby 1.1.6"]
    ["compute_if_absent", "mutex locks"].each { |what| assert_equal [44_528, 20_528], %w[parent flat].map { |query| counted["#{what} per #{query} query, concurrent-ruby 1.1.6"] } }
    assert_equal 10_241, counted["resolve_value per flat query, concurrent-ruby 1.1.6"]
    assert_equal 0, counted["mutex locks per parent query, 1.1.6 with the cure"]
  end

  # The talk's printed figures, by its own script: where set-up could not fetch that, nothing is claimed to be counted.
  def assert_first_query(finding)
    claims = finding.claims.select { |claim| claim.text.end_with?("in the first query of the talk's own script") }
    there = Labs::FalsyCache::SCRIPT.there?
    assert_equal [19_241, 24_284, 44_528, 44_528, 44_532, 6_456], claims.map { |claim| claim.exact.expected }
    assert_equal [there ? :exact : :not_measured], claims.map(&:outcome).uniq
    assert_equal there, finding.verdicts.key?("the talk's own script, YJIT off")
    assert_equal !there, finding.unknown.key?("the talk's own script")
  end

  # What ran was what was declared, and each claim got the outcome of its own interval.
  def assert_speeds(finding)
    verdict = finding.verdicts.fetch("parent query, YJIT off")
    assert_equal 6, verdict.rounds_count
    assert_equal [%w[1.11.1 1.1.6]] * 2, verdict.cells.map { |cell| cell.fingerprint.values_at([:gem, "graphql"], [:gem, "concurrent-ruby"]) }
    claim = finding.claims.find { |one| one.text.start_with?("the cure makes the parent query faster") }
    assert_equal Lab::Outcome.of_ratio(Lab::Margin.of(8.633 / 6.782), claim.measured), claim.outcome
    assert_equal 0.05, finding.family_error_ratio
    assert_operator claim.measured.level_ratio, :>=, 1 - 0.05 / 2, "two claims share it"
  end
end
