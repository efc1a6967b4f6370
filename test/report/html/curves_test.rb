# frozen_string_literal: true

require "test_helper"
require "report/proof_fixture"

class ReportHtmlCurvesTest < TunerTest
  Curves = PumaTuner::Report::Html::Curves

  def charts(verdict = ProofFixture.gems) = Curves.of(PumaTuner::Report::Contents.of(verdict)).to_h { |chart| [chart.id, chart] }

  test "memory and warm-up have a line for each trial that counts, with its variant's sign" do
    assert_equal %w[memory warm-up], charts.keys
    charts.each_value { |chart| assert_equal({0 => 12, 1 => 12}, chart.lines.map(&:symbol).tally) }
  end

  test "memory that no kernel divides among processes is told as RSS" do
    assert_equal "MiB (PSS)", charts["memory"].y_name
    assert_equal ["MiB (RSS)", "iterations done"], charts(ProofFixture.blocks)["memory"].then { |chart| [chart.y_name, chart.x_name] }
  end

  test "a line says whose it is, and that it was not steady" do
    titles = charts["warm-up"].lines.map(&:title)
    assert_includes titles, "json 2.7.2, round 1, 6 points"
    assert_equal ["json 2.8.1, round 3, 6 points, not steady"], titles.grep(/not steady/)
  end

  test "a verdict without either has no chart" do
    assert_empty charts(TuningFixture.verdict)
  end

  test "many requests are told in thousands" do
    assert_equal ["0", "5,000", "10k", "15k"], charts["memory"].x_ticks.map(&:last)
  end

  test "a tick between two thousands says so" do
    told = {9_999 => "9,999", 10_000 => "10k", 12_500 => "12.5k", 12_500.0 => "12.5k", 17_500 => "17.5k", 1_250_000 => "1,250k", 1_234_500 => "1,234.5k"}
    assert_equal told.values, told.keys.map { |number| Curves.thousands(number) }
  end
end
