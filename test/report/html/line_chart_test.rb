# frozen_string_literal: true

require "test_helper"

class ReportHtmlLineChartTest < TunerTest
  LineChart = PumaTuner::Report::Html::LineChart

  def chart(*points_of_lines, whole: false)
    series = points_of_lines.map { |points| LineChart::Series.new(symbol: 0, title: "a trial", points:) }
    across = LineChart::Axis.new(name: "windows", words: ->(number) { number.round.to_s }, whole: true)
    up = LineChart::Axis.new(name: "ms", words: ->(number) { number.to_s }, whole:)
    LineChart.new(id: "x", title: "X", reading: "", legend: [], series:, across:, up:)
  end

  def places(line) = line.path.scan(/[ML]([\d.]+) ([\d.]+)/).map { |pair| pair.map(&:to_f) }

  test "more stands further along and higher up, inside the plot" do
    found = places(chart([[1, 10.0], [2, 30.0], [3, 20.0]]).lines.first)
    assert_equal found.map(&:first).sort, found.map(&:first)
    # The page's y grows downwards.
    assert_equal [1, 2, 0], [0, 1, 2].sort_by { |index| found[index].last }
    found.each do |x, y|
      assert_includes 0..100, x
      assert_includes LineChart::TOP..(LineChart::TOP + LineChart::PLOT_HEIGHT), y
    end
  end

  test "a gap stays one, and the sign stands at the last point there is" do
    line = chart([[1, 10.0], [2, 11.0], [3, nil], [4, 12.0], [5, 13.0], [6, nil]]).lines.first
    assert_equal "MLML", line.path.gsub(/[^ML]/, "")
    assert_equal [places(line).last], line.signs.map { |sign| [sign.x, sign.y] }
  end

  test "whole numbers have no ticks between them" do
    assert_equal %w[1 2 3], chart([[1, 1.0], [2, 2.0], [3, 3.0]]).x_ticks.map(&:last)
  end

  test "less than two points are no line, and no line is no chart" do
    refute_predicate chart, :any?
    refute_predicate chart([[1, 2.0]], [[1, nil], [2, nil]], [[nil, 3.0], [1, 4.0]]), :any?
    assert_predicate chart([[1, 5.0], [2, 5.0]]), :any?
  end

  test "it is named for those who do not see it" do
    assert_equal "X: ms over windows, a line for each trial", chart([[1, 1.0], [2, 2.0]]).label
  end
end
