# frozen_string_literal: true

require "test_helper"

class ReportColumnsTest < TunerTest
  Columns = PumaTuner::Report::Columns
  Paint = PumaTuner::Report::Paint

  test "the first column stands left, numbers right, and marked headings left" do
    table = Columns.new(["name", "count", "<word"])
    table << ["a", "1", "x"] << ["longer", "1,000", "much"]
    assert_equal ["  name    count  word", "  a           1  x", "  longer  1,000  much"], table.lines
  end

  test "an empty cell leaves its place, and no line ends in spaces" do
    table = Columns.new(["", "n", "<"]) << ["a", nil, nil] << [nil, "22", "b"]
    assert_equal ["      n", "  a", "     22  b"], table.lines
  end

  test "columns move together where lines would get too long" do
    rows = ->(width) { (Columns.new(["", "n"], width:) << ["abc", "123"]).lines.last }
    assert_equal ["  abc  123", "  abc 123"], [rows.call(10), rows.call(9)]
  end

  test "colour does not count in a column's width" do
    paint = Paint.new(true)
    plain = (Columns.new(["", "n"]) << ["today", "12"] << ["b", "3"]).lines
    painted = (Columns.new(["", "n"]) << [paint.call("today", :bold, :green), "12"] << ["b", paint.call("3", :dim)]).lines
    assert_equal plain, painted.map { |line| Paint.strip(line) }
    refute_equal plain, painted
  end

  test "without colour there are no escape sequences" do
    assert_equal "today", Paint.new(false).call("today", :bold, :green)
    assert_equal "\e[1;32mtoday\e[0m", Paint.new(true).call("today", :bold, :green)
  end
end
