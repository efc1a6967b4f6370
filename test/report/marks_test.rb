# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportMarksTest < TunerTest
  Report = PumaTuner::Report

  def setup
    sweep = TuningFixture.sweep(workers: 1..2, threads: 1..8, loads: [TuningFixture.closed, TuningFixture.closed(40)], settings: [{}, {timeslice_ms: 10}])
    @marks = Report::Marks.new(Report::Contents.of(TuningFixture.tuning(sweep:)))
    @grids = Report::Grid.of(sweep)
  end

  test "only the forecast for the recording's load and settings was measured" do
    assert_equal [2, 0, 0, 0], @grids.map { |grid| grid.forecasts.count { |forecast| @marks.measured(forecast) } }
  end

  test "a topology is marked in every grid, and the best of each is" do
    @grids.each do |grid|
      assert_equal %w[1x5 2x3 2x8], @marks.interesting(grid).map { |forecast| forecast.topology.to_s }
      assert_equal [["today"], ["recommended", "rule of thumb"], ["fastest"]], @marks.explained(grid).map { |forecast| @marks.in_grid(grid, forecast) }
    end
  end
end
