# frozen_string_literal: true

require "test_helper"
require_relative "proof_fixture"

class ReportComparisonRowsTest < TunerTest
  Report = PumaTuner::Report

  def rows(verdict = ProofFixture.gems)
    contents = Report::Contents.of(verdict)
    Report::ComparisonRows.new(contents, contents.other_cells.first)
  end

  # What is said of all rows, and of these.
  def notes(verdict = ProofFixture.gems)
    [*Report::Sections::Proof.new(Report::Contents.of(verdict)).notes, *rows(verdict).notes].join(" ")
  end

  # @return [PumaTuner::Prove::Verdict] with all comparisons changed alike
  def changed(**fields) = ProofFixture.gems.then { |verdict| verdict.with(comparisons: verdict.comparisons.map { |one| one.with(**fields) }) }

  test "the primary metric comes first, whichever it is" do
    assert_equal "requests/s (primary)", rows.rows.first.label
    by_cpu = rows(ProofFixture.gems(primary: "cpu_per_request")).rows
    assert_equal ["CPU per request (primary)", "requests/s", "p50"], by_cpu.first(3).map(&:label)
    assert_equal 1, by_cpu.count(&:primary)
  end

  test "a row has both values, the ratio with its interval, what could be seen, and the outcome" do
    row = rows.rows.find { |found| found.metric.name == "cpu_per_request" }
    assert_equal ["0.871x (0.868–0.874)", "-", "better"], row.to_h.values_at(:ratio, :predicted, :words)
    assert_match(/^  CPU per request +498 µs +434 µs +0\.871x \(0\.868–0\.874\) +0\.5% +better$/, PumaTuner::Report.render(ProofFixture.gems, format: :text))
  end

  test "metrics that were measured have a row, compared or not" do
    verdict = ProofFixture.gems.then { |found| found.with(comparisons: found.comparisons.reject { |one| one.metric == "boot" }) }
    boot = rows(verdict).rows.find { |found| found.metric.name == "boot" }
    assert_equal ["-", nil, "not compared"], boot.to_h.values_at(:ratio, :outcome, :words)
    assert_match(/^  boot +412 ms +414 ms +- +- +-$/, PumaTuner::Report.render(verdict, format: :text))
    refute(rows.rows.any? { |found| found.metric.name == "p999" })
  end

  test "Student's interval is told only where the two disagree" do
    assert_includes notes, "p99: by Student's t 0.95x (0.86–1.05), which covers 1."
    assert_includes notes, "single rounds were outliers; the rank test"
    assert_equal 1, notes.scan("by Student").size
    refute_includes notes(changed(t_ratio: nil)), "Student"
  end

  test "levels are told apart where the primary metric has its own" do
    assert_includes notes, "the 98% interval (requests/s) and the 95% interval (all others)"
    assert_includes notes(TuningFixture.verdict), "with the 96% interval over paired rounds, and whether the prediction lies inside it."
  end

  test "a note says that the others are corrected for multiple comparisons, and which lost their outcome by it" do
    assert_includes notes, "corrected for multiple comparisons (Holm)."
    assert_includes notes, "Not shown although the interval excludes 1: p99. With this many metrics, one may do so by chance (adjusted p 0.16)."
    refute_includes notes(changed(adjusted_p_value: nil)), "Holm"
  end

  test "a note says when the rounds are too few for that many metrics" do
    assert_includes notes(TuningFixture.verdict), "With this many metrics, significance takes at least 7 rounds."
    refute_includes notes, "significance takes"
  end

  test "few rounds have no interval, and no pairs nothing at all" do
    few = changed(ratio: ProofFixture.estimate(1.1, 0.02), mde_ratio: nil, t_ratio: nil, adjusted_p_value: nil)
    assert_equal "Ratio: variant over json 2.7.2, with the range of the rounds. So few rounds show nothing: an interval of 98.2% takes 7.", notes(few)
    assert_equal "Nothing could be compared.", notes(ProofFixture.gems(comparisons: []))
  end

  test "a prediction is inside or outside" do
    assert_equal ["1.68x, inside", "0.60x, inside", "0.52x, outside", "-", "-"], rows(TuningFixture.verdict).rows.map(&:predicted)
    refute_predicate rows, :predicted?
  end
end
