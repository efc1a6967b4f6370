# frozen_string_literal: true

require "test_helper"
require "report/proof_fixture"

class ReportHtmlRatioChartTest < TunerTest
  RatioChart = PumaTuner::Report::Html::RatioChart

  def chart(verdict = ProofFixture.gems) = RatioChart.new(PumaTuner::Report::Contents.of(verdict))

  test "every comparison is a row with its interval around its value, inside the plot" do
    name, _, rows = chart.groups.first
    assert_equal "json 2.8.1 over json 2.7.2", name
    assert_equal ProofFixture::GEM.size, rows.size
    rows.each do |row|
      assert_equal [row.low, row.value, row.high], [row.low, row.value, row.high].sort
      assert_includes RatioChart::LEFT..(RatioChart::WIDTH - RatioChart::RIGHT), row.low
      assert_includes RatioChart::LEFT..(RatioChart::WIDTH - RatioChart::RIGHT), row.high
    end
  end

  test "better and worse of a metric where less is better stand on the same sides of 1 as their ratios" do
    rows = chart.groups.first.last
    saved, cost = rows.values_at(1, 8)
    assert_equal %i[better worse], [saved.outcome, cost.outcome]
    assert_operator saved.high, :<, chart.one
    assert_operator cost.low, :>, chart.one
  end

  test "the primary metric is marked, and told in its title" do
    first, second = chart.groups.first.last
    assert_equal ["requests/s *", "p50"], [first.name, second.name]
    assert_match(/\Arequests\/s \(primary\): measured 1\.142x/, first.title)
  end

  test "forecasts have a column where there are any" do
    assert_equal %w[measured outcome], chart.columns.keys
    assert_equal %w[measured predicted outcome], chart(TuningFixture.verdict).columns.keys
    assert_equal [3, 3], chart(TuningFixture.verdict).groups.first.last.then { |rows| [rows.count(&:predicted), rows.first.texts.size] }
  end

  test "long names are shortened, and nothing compared is no chart" do
    assert_operator chart(ProofFixture.nasty("a" * 200)).groups.first.first.length, :<=, 2 * RatioChart::NAME_LENGTH + " over ".length
    refute_predicate chart(ProofFixture.gems(comparisons: [])), :any?
  end

  test "ratios close to 1 have ticks, too" do
    close = ProofFixture.gems.then { |verdict| verdict.with(comparisons: verdict.comparisons.map { |one| one.with(ratio: ProofFixture.estimate(1.0, 0.01)) }) }
    assert_includes chart(close).ticks.map(&:last), "1.02x"
  end
end
