# frozen_string_literal: true

require_relative "fixture"

class MythBustersTablesAndChartsTest < TunerTest
  include MythBustersFixture

  def share_cells = [0.2, 0.5, 0.7, 0.8, 0.9, 0.95].flat_map { |ratio| cells(ratio, {1 => 50, 3 => 100, 5 => 120, 20 => 121}) }

  test "fills every column of every table" do
    MythBustersFixture::Lab::Tables.new(measured(cells: share_cells)).all.each do |table|
      table.rows.each { |row| assert_equal table.headings.size, row.size, table.title }
    end
  end

  test "says beside the predictor's error what was corrected" do
    table = MythBustersFixture::Lab::Tables.new(measured(cells: share_cells)).all.find { |one| one.title == "The predictor's error on this grid" }
    assert_match(/Nothing is corrected/, table.notes.join)
  end

  test "draws no more lines than can be told apart, each from left to right" do
    charts = MythBustersFixture::Lab::Charts.new(measured(cells: share_cells)).all
    assert_includes charts.map(&:id), "io-share"
    charts.each do |chart|
      assert_operator chart.series.size, :<=, PumaTuner::Report::Html::SYMBOLS_COUNT, chart.id
      chart.series.each { |series| assert_equal series.points.map(&:first).sort, series.points.map(&:first), "#{chart.id}: #{series.title}" }
    end
  end

  test "marks Rails' defaults among the threads, and 100% as the best" do
    chart = MythBustersFixture::Lab::Charts.new(measured(cells: share_cells)).all.find { |one| one.id == "threads-throughput" }
    assert_equal ["1", "3, Rails", "5, Rails until 7.1", "20"], chart.across.ticks.map(&:last)
    assert_equal [100.0] * 5, chart.series.map { |series| series.points.map { |_, y| y }.max }
  end

  test "concludes from the numbers what the language takes and where the rule costs" do
    sentences = MythBustersFixture::Lab::Conclusions.new(measured).all.join(" ")
    assert_match(/0\.70+x .+where 30% of them is work in Ruby/, sentences)
    assert_match(/costs 16% at 70%/, sentences)
  end
end
