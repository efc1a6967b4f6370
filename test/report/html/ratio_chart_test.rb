# frozen_string_literal: true

require "test_helper"
require "report/proof_fixture"

class ReportHtmlRatioChartTest < TunerTest
  RatioChart = PumaTuner::Report::Html::RatioChart

  def interval(row) = row.marks.first

  def chart(verdict = ProofFixture.gems)
    proof = PumaTuner::Report::Sections::Proof.of(PumaTuner::Report::Contents.of(verdict))
    RatioChart.new(**proof.blocks.grep(PumaTuner::Report::Blocks::Figure).first.blocks.first.subject)
  end

  test "every comparison is a row with its interval around its value, inside the plot" do
    name, rows = chart.groups.first
    assert_equal "json 2.8.1 over json 2.7.2", name
    assert_equal ProofFixture::GEM.size, rows.size
    rows.each do |row|
      places = interval(row).deconstruct_keys(nil).values_at(:low, :value, :high)
      assert_equal places.sort, places
      places.each { |place| assert_includes 0..100, place }
    end
  end

  test "better and worse of a metric where less is better stand on the same sides of 1 as their ratios" do
    rows = chart.groups.first.last
    saved, cost = rows.values_at(1, 8)
    assert_equal %w[outcome-better outcome-worse], [saved.style, cost.style]
    assert_operator interval(saved).high, :<, chart.one
    assert_operator interval(cost).low, :>, chart.one
  end

  test "the primary metric is marked, and told in its title" do
    first, second = chart.groups.first.last
    assert_equal ["requests/s *", "p50"], [first.name, second.name]
    assert_match(/\Arequests\/s \(primary\): measured 1\.142x/, first.title)
  end

  test "forecasts have a column where there are any" do
    assert_equal %w[measured outcome], chart.headings
    assert_equal %w[measured predicted outcome], chart(TuningFixture.verdict).headings
    rows = chart(TuningFixture.verdict).groups.first.last
    assert_equal [3, 3], [rows.count { |row| row.marks.last.is_a?(RatioChart::Diamond) }, rows.first.facts.size]
  end

  test "no chart is drawn without a comparison" do
    refute_predicate chart(ProofFixture.gems(comparisons: [])), :any?
  end

  test "ratios close to 1 have ticks, too" do
    close = ProofFixture.gems.then { |verdict| verdict.with(comparisons: verdict.comparisons.map { |one| one.with(ratio: ProofFixture.estimate(1.0, 0.01)) }) }
    assert_includes chart(close).ticks.map(&:last), "1.02x"
  end
end
