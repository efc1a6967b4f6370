# frozen_string_literal: true

require "test_helper"
require_relative "proof_fixture"

class ReportCauseTest < TunerTest
  Report = PumaTuner::Report

  # @param before [Hash] microseconds of the baseline's mean request; after: of the variant's
  # @param outcome [String] of the rounds
  def cause(before, after, outcome: :not_shown, **fields)
    verdict = ProofFixture.gems.then { |found| found.with(comparisons: found.comparisons.map { |one| one.with(outcome:) }) }
    cells = verdict.cells.zip([before, after]).map { |cell, us| cell.with(budget: us && ProofFixture.budget(us)) }
    Report::Cause.of(Report::Contents.of(verdict.with(cells:, **fields))).first
  end

  test "the part that saves most is named, with its share in time" do
    assert_equal "Of 14.0 µs saved per request (112 µs to 98.0 µs), 12.0 µs are cpu (computes, on a core).",
      cause({wall: 112, cpu: 90, io: 20}, {wall: 98, cpu: 78, io: 18}).sentence
  end

  test "what was added is told like what was saved" do
    assert_equal "Of 10.0 µs added per request (100 µs to 110 µs), 9.00 µs are gc (runs the garbage collector).",
      cause({wall: 100, cpu: 90, gc: 5}, {wall: 110, cpu: 91, gc: 14}).sentence
  end

  test "a part that saves more than the whole is told beside the one that gives some of it back" do
    assert_equal "20.0 µs are saved per request (100 µs to 80.0 µs): 30.0 µs less cpu (computes, on a core); gc takes 10.0 µs more.",
      cause({wall: 100, cpu: 90, gc: 10}, {wall: 80, cpu: 60, gc: 20}).sentence
  end

  test "waiting is led back to what is waited for" do
    assert_equal "Of 60.0 µs saved per request (200 µs to 140 µs), 50.0 µs are queue (in Puma, waiting for a pool thread); waiting follows from the rest, " \
      "of which cpu changed most, by -10.0 µs.", cause({wall: 200, queue: 150, cpu: 50}, {wall: 140, queue: 100, cpu: 40}).sentence
    assert_match(/pool thread\)\.\z/, cause({wall: 200, queue: 150, cpu: 50}, {wall: 150, queue: 100, cpu: 50}).sentence)
  end

  test "where the time is the same no part is named" do
    same = cause({wall: 1_000, cpu: 600, io: 400}, {wall: 1_005, cpu: 605, io: 400})
    assert_predicate same, :same?
    assert_includes same.sentence, "took the same time within 1.0% (1.00 ms to 1.00 ms)"
    assert_equal [nil], same.rows.map(&:share_ratio).uniq
  end

  test "differences add up to the whole, the residual with them" do
    found = cause({wall: 112, cpu: 90, io: 20}, {wall: 98, cpu: 78, io: 15})
    assert_equal found.total.difference_ns, found.rows.sum(&:difference_ns)
    assert_in_delta 1, found.rows.sum(&:share_ratio)
    assert_includes found.rows.map { |row| row.part.word }, "residual"
  end

  test "a part that one of the two could not tell is unknown, and its time in both residuals" do
    found = cause({wall: 100, cpu: 60, io: nil}, {wall: 90, cpu: 55, io: 30})
    assert_includes found.note, "Unknown: io."
    assert_equal [40_000, 35_000], found.rows.find { |row| row.part.word == "residual" }.then { |row| [row.baseline_ns, row.variant_ns] }
  end

  test "a part that gives next to nothing has a share without a sign" do
    rows = cause({wall: 100, cpu: 90, gc: 10}, {wall: 80, cpu: 70, gc: 10}).rows
    assert_equal ["gc", "10.0 µs", "10.0 µs", "0 ns", "0.0%"], rows.find { |row| row.part.word == "gc" }.words
  end

  test "a cause that goes against what the rounds showed is doubted" do
    before, after = {wall: 100, cpu: 90}, {wall: 120, cpu: 108}
    assert_equal "The rounds showed json 2.8.1 to be better, but under the load for the cause the mean request took 20.0 µs more (100 µs to 120 µs): " \
      "that load was too short, or the machine too busy, to tell the cause.", cause(before, after, outcome: :better).sentence
    [cause(after, before, outcome: :better), cause(before, after, outcome: :worse), cause(before, after)].each { |found| refute_predicate found, :doubtful? }
    refute_predicate cause(before, before, outcome: :better), :doubtful?
    refute_predicate cause(before, after, outcome: :better, primary: "pss"), :doubtful?
  end

  test "without both budgets there is no cause" do
    assert_nil cause({wall: 100, cpu: 90}, nil)
    assert_nil cause(nil, {wall: 100, cpu: 90})
    assert_empty Report::Cause.of(Report::Contents.of(ProofFixture.blocks))
  end
end
