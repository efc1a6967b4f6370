# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportBackgroundTest < TunerTest
  Background = PumaTuner::Report::Sections::Background

  test "shares are of the window, who takes most first, and the idle are left out" do
    rows = Background.new(TuningFixture.observation).told
    assert_equal ["cable heartbeat", "puma reactor", "prometheus exporter"], rows.map(&:name)
    assert_in_delta 873 / 30_012.0, rows.first.gvl, 0.0001
    assert_in_delta 410 / 30_012.0, rows.first.gvl_wait, 0.0001
  end

  test "threads of the same name in several workers share the windows of all of them, the master's aside" do
    processes = [["master", nil], ["worker", 0], ["worker", 1]].map { |row| TuningFixture.process(*row) }
    observation = TuningFixture.observation(processes:)
    assert_in_delta 873 / 60_024.0, Background.new(observation).told.first.gvl, 0.0001
    assert_equal ["the window, mean of 2 processes", "the window"], [observation, TuningFixture.observation].map { |value| Background.new(value).whole }
  end

  test "without a CPU time there is no row, and without the others there are dashes" do
    thread = TuningFixture.background.first
    unknown = thread.with(budget: thread.budget.with(cpu_ns: nil))
    partly = thread.with(budget: thread.budget.with(gc_ns: nil, gvl_wait_ns: nil))
    rows = Background.new(TuningFixture.observation(background: [unknown, partly], processes: [])).told
    assert_equal [[nil, nil]], rows.map { |row| [row.gc, row.gvl_wait] }
  end
end
