# frozen_string_literal: true

require "test_helper"
require "report/proof_fixture"

class ReportHtmlRoundsChartTest < TunerTest
  RoundsChart = PumaTuner::Report::Html::RoundsChart

  def dots(row) = row.marks.grep(RoundsChart::Dot)

  def chart(verdict) = RoundsChart.new(PumaTuner::Report::Contents.of(verdict))

  test "the dots are the primary metric, in its unit" do
    by_p99 = chart(ProofFixture.gems(primary: "p99"))
    assert_equal "p99", by_p99.axis_names.last
    assert_match(/ ms\z/, by_p99.ticks.first.last)
    assert_match(/\Ajson 2.7.2, round 1, first in it: p99 9.87 ms, 9,340 requests\z/, dots(by_p99.rows.first).first.title)
  end

  test "a trial without the metric has no dot, and its round still a row" do
    verdict = ProofFixture.blocks.then { |found| found.with(trials: [found.trials.first.with(values: {}), *found.trials.drop(1)]) }
    assert_equal [1, 2], chart(verdict).rows.first(2).map { |row| dots(row).size }
  end

  test "no chart is drawn without a value" do
    refute_predicate chart(ProofFixture.gems(trials: [])), :any?
  end

  test "a round that was tried again says so, and why" do
    void = chart(TuningFixture.verdict).rows.find { |row| row.style == "round void" }
    assert_match(/\Around \d, void\z/, void.name)
    assert_match(/\Avoid: 2 of 1552 responses/, void.title)
  end
end
