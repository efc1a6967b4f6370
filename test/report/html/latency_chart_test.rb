# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportHtmlLatencyChartTest < TunerTest
  LatencyChart = PumaTuner::Report::Html::LatencyChart

  def chart(endpoints = TuningFixture.observation.endpoints) = LatencyChart.new(endpoints)

  test "the four busiest endpoints have a hill each, with p50 before p99" do
    rows = chart.rows
    assert_equal ["GET /articles", "GET /articles/:id", "POST /orders", "GET /search"], rows.map(&:name)
    rows.map { |row| row.marks.last(2).map(&:x) }.each { |p50, p99| assert_operator p50, :<, p99 }
    assert_equal ["3,710", "80.7 ms", "203 ms"], rows.first.facts
  end

  test "a hill stands on its foot, is as high as the row allows, and stays in the plot" do
    drawn = chart
    drawn.rows.each do |row|
      path = row.marks.first.path
      heights = path.scan(/V([\d.]+)/).flatten.map { |y| drawn.row_height - y.to_f }
      assert_in_delta LatencyChart::HILL_HEIGHT, heights.max, 0.1
      assert_in_delta 0, heights.last, 0.1
      assert(path.scan(/H([\d.]+)/).flatten.all? { |x| x.to_f.between?(0, 100) })
    end
  end

  test "a single request is a hill, and none is no chart" do
    one = TuningFixture.endpoint("GET /", 1, 5.0, 5.0, 5.0, {cpu: 1.0})
    assert_equal 1, chart([one]).rows.size
    refute_predicate chart([]), :any?
    refute_predicate chart([one.with(latency: PumaTuner::Probe::Histogram.empty)]), :any?
  end
end
