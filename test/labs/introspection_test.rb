# frozen_string_literal: true

require "test_helper"
require "support/few_rounds"

# Lab 04 in its short form: real runs, exact counts. How fast it is here is no matter.
class IntrospectionLabTest < TunerTest
  include PumaTuner

  time_limit 360

  def lab = Lab.find("introspection")

  test "counts follow from the response's fields, responses are alike, and the report tells them" do
    skip "its gems are not installed: puma_tuner lab setup introspection --quick" if Lab::Gems.missing(lab.gems(quick: true)).any?
    finding = lab.call(FewRounds.new(lab))
    assert_counts(finding)
    refute_includes finding.claims.map(&:outcome), :differs
    assert_answers(finding)
    assert_story(finding)
    verdict = finding.verdicts.fetch("Ruby #{RUBY_VERSION}, YJIT off")
    assert_equal ["1.3.0", "1.5.3", "2.6.14", "2.6.14"], verdict.cells.map { |cell| cell.fingerprint[[:gem, "graphql"]] }
    %i[text html markdown].each { |format| assert_includes Report.render(finding, format:), "2,416" }
    skip "its repository was not fetched" unless Labs::IntrospectionChanges::REPOSITORY.there?
  end

  def assert_counts(finding)
    counted = finding.claims.select(&:exact).to_h { |claim| [claim.text, claim.exact.counted] }
    assert_equal [2_416, 2_416, 4_832, 4_832],
      ["MiddlewareChain#initialize in 1.3.0, once per field", "FieldResult#initialize in 1.3.0, once per field", "MiddlewareChain#call in 1.3.0, twice per field",
        "Array#shift in 1.3.0, twice per field"].map { |text| counted[text] }
    assert_equal [0, 0, 0, 4], ["MiddlewareChain#initialize", "MiddlewareChain#call", "Array#shift", "ensure_defined"].map { |method| counted["#{method} in 1.5.3"] }
  end

  # The story's printed figures, by its own benchmark: the second profile needs a repository that set-up fetches.
  def assert_story(finding)
    told = finding.claims.select(&:exact).to_h { |claim| [claim.text.delete_suffix(", the story's own benchmark"), claim] }
    before = {"FieldResolutionContext#initialize" => 1_960, "MiddlewareChain#call" => 3_496, "ensure_defined" => 8_715, "Module#===" => 25_403}
    before.each { |method, count| assert_equal count, told.fetch("#{method} in 1.3.0").exact.counted }
    there = Labs::IntrospectionChanges::REPOSITORY.there?
    after = {"FieldResolutionContext#initialize" => 1_960, "MiddlewareChain#invoke_core" => 3_496, "Array#shift" => 0, "Module#===" => 13_542, "Kernel#is_a?" => 8_260}
    assert_equal after.transform_values { |count| count if there }, after.to_h { |method, _| [method, told.fetch("#{method} in the story's master").exact.counted] }
    repeated = finding.tables.find { |table| table.title.start_with?("The story's own benchmark") }.rows.find { |row| row.first == "Warden#visible?, again for equal inputs" }
    assert_equal ["2,641", there ? "220" : "–"], repeated.values_at(2, 4), "of 2,815 calls; then they are kept"
    assert_changes(finding) if there
    assert_equal !there, finding.unknown.key?("the story's second profile, and its ten changes")
  end

  # A check that removes itself is no longer called; a plain value has no object around it.
  def assert_changes(finding)
    rows = finding.tables.find { |table| table.title == "Who brought how much" }.rows.to_h { |what, *cells| [what, cells[2..5].map { |cell| cell.delete(",").to_i }] }
    calls_before, calls_after, objects_before, objects_after = rows.fetch("no FieldResult around a plain value")
    assert_operator calls_after, :<, calls_before
    assert_equal 2 * 1_748, objects_before - objects_after, "the result, and what it is made of"
    assert_operator rows.fetch("checks that remove themselves").last, :<, objects_before
  end

  # The new engine says what the classic one says; old versions differ in what is known of them.
  def assert_answers(finding)
    table = finding.tables.find { |one| one.title.start_with?("The answers") }
    assert_equal ["5 differences", "2 differences", "the same", "the same"], table.rows.map(&:last)
    assert_equal ["1,752"], table.rows.map { |row| row[2] }.uniq
    assert_match(/interfaces of INTERFACE: null, not \[\]/, table.notes.join)
  end
end
