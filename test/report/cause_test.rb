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
    verdict.with(cells:, **fields).causes.first
  end

  def sentence(...) = Report::Sections::Causes.sentence(cause(...), "request")

  # @return [Array<Array<String>>] the table's rows as a terminal shows them
  def table(found)
    verdict = ProofFixture.gems.then { |one| one.with(cells: one.cells.map { |cell| cell.with(budget: nil) }) }
    rows = Report::Sections::Causes.new(Report::Contents.of(verdict)).send(:table, found)
    rows.rows.map { |row| row.cells.zip(rows.columns).map { |cell, column| Report::Words.cell(cell, column, narrow: true) } }
  end

  test "the part that saves most is named, with its share in time" do
    assert_equal "Of 14.0 µs saved per request (112 µs to 98.0 µs), 12.0 µs are cpu (computes, on a core).",
      sentence({wall: 112, cpu: 90, io: 20}, {wall: 98, cpu: 78, io: 18})
  end

  test "added time is told like saved time" do
    assert_equal "Of 10.0 µs added per request (100 µs to 110 µs), 9.00 µs are gc (runs the garbage collector).",
      sentence({wall: 100, cpu: 90, gc: 5}, {wall: 110, cpu: 91, gc: 14})
  end

  test "a part that saves more than the whole is told beside the one that gives some of it back" do
    assert_equal "20.0 µs are saved per request (100 µs to 80.0 µs): 30.0 µs less cpu (computes, on a core); gc takes 10.0 µs more.",
      sentence({wall: 100, cpu: 90, gc: 10}, {wall: 80, cpu: 60, gc: 20})
  end

  test "waiting is led back to what is waited for" do
    assert_equal "Of 60.0 µs saved per request (200 µs to 140 µs), 50.0 µs are queue (in Puma, waiting for a pool thread); the waiting follows from the other parts, " \
      "of which cpu changed most, by -10.0 µs.", sentence({wall: 200, queue: 150, cpu: 50}, {wall: 140, queue: 100, cpu: 40})
    assert_match(/pool thread\)\.\z/, sentence({wall: 200, queue: 150, cpu: 50}, {wall: 150, queue: 100, cpu: 50}))
  end

  test "where the time is the same no part is named" do
    same = cause({wall: 1_000, cpu: 600, io: 400}, {wall: 1_005, cpu: 605, io: 400})
    assert same.same
    assert_includes Report::Sections::Causes.sentence(same, "request"), "took the same time within 1.0% (1.00 ms to 1.00 ms)"
    assert_equal [nil], same.parts.map(&:share_ratio).uniq
  end

  test "differences add up to the whole, the residual with them" do
    found = cause({wall: 112, cpu: 90, io: 20}, {wall: 98, cpu: 78, io: 15})
    assert_equal found.total.difference_ns, found.parts.sum(&:difference_ns)
    assert_in_delta 1, found.parts.sum(&:share_ratio)
    assert_includes found.parts.map(&:part), :residual
  end

  test "a part that one of the two could not tell is unknown, and its time in both residuals" do
    found = cause({wall: 100, cpu: 60, io: nil}, {wall: 90, cpu: 55, io: 30})
    assert_equal [:io], found.unknown
    assert_equal [40_000, 35_000], found.part(:residual).then { |part| [part.baseline_ns, part.variant_ns] }
  end

  test "a part that gives next to nothing has a share without a sign" do
    rows = table(cause({wall: 100, cpu: 90, gc: 10}, {wall: 80, cpu: 70, gc: 10}))
    assert_includes rows, ["gc", "10.0 µs", "10.0 µs", "0 ns", "0.0%"]
  end

  test "a cause that goes against what the rounds showed is doubted" do
    before, after = {wall: 100, cpu: 90}, {wall: 120, cpu: 108}
    assert_equal "The rounds showed json 2.8.1 to be better, but under the load for the cause the mean request took 20.0 µs more (100 µs to 120 µs): " \
      "that load was too short, or the machine too busy, to tell the cause.", sentence(before, after, outcome: :better)
    [cause(after, before, outcome: :better), cause(before, after, outcome: :worse), cause(before, after)].each { |found| refute found.doubtful }
    refute cause(before, before, outcome: :better).doubtful
    refute cause(before, after, outcome: :better, primary: "pss").doubtful
  end

  test "without both budgets there is no cause" do
    assert_nil cause({wall: 100, cpu: 90}, nil)
    assert_nil cause(nil, {wall: 100, cpu: 90})
    assert_empty ProofFixture.blocks.causes
  end
end
