# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportHtmlLatencyChartTest < TunerTest
  LatencyChart = PumaTuner::Report::Html::LatencyChart

  def chart(endpoints = TuningFixture.observation.endpoints) = LatencyChart.new(endpoints)

  test "the four busiest endpoints have a hill each, with p50 before p99" do
    rows = chart.rows
    assert_equal ["GET /articles", "GET /articles/:id", "POST /orders", "GET /search"], rows.map(&:name)
    rows.each { |row| assert_operator row.marks.first.first, :<, row.marks.last.first }
  end

  test "a hill stands on its foot, is as high as the row allows, and stays in the plot" do
    chart.rows.each do |row|
      heights = row.path.scan(/V([\d.]+)/).flatten.map { |y| row.y - y.to_f }
      assert_in_delta LatencyChart::HILL_HEIGHT, heights.max, 0.1
      assert_in_delta 0, heights.last, 0.1
      assert(row.path.scan(/H([\d.]+)/).flatten.all? { |x| x.to_f.between?(LatencyChart::LEFT, LatencyChart::WIDTH - LatencyChart::RIGHT) })
    end
  end

  test "a single request is a hill, and none is no chart" do
    one = TuningFixture.endpoint("GET /", 1, 5.0, 5.0, 5.0, {cpu: 1.0})
    assert_equal 1, chart([one]).rows.size
    refute_predicate chart([]), :any?
    refute_predicate chart([one.with(latency: PumaTuner::Probe::Histogram.empty)]), :any?
  end

  test "a long name is shortened in its middle, and whole under the pointer" do
    name = "GET /api/v2/organizations/:organization_id/reports/:id.json"
    row = chart([TuningFixture.endpoint(name, 10, 5.0, 5.0, 9.0, {cpu: 1.0})]).rows.first
    assert_equal LatencyChart::NAME_LENGTH, row.name.length
    assert_includes row.title, name
  end
end
