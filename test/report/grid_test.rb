# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

class ReportGridTest < TunerTest
  include Builders

  Grid = PumaTuner::Report::Grid

  def open_loop(rate, **) = Model::Arrivals.open(rate, **)

  def unsteady(text, reason) = forecast(text, 1, arrivals: open_loop(200)).with(unsteady: PumaTuner::Statement.of(:told, text: reason), throughput_per_s: nil, p99_ns: nil)

  def set(forecast, **settings) = forecast.with(scenario: forecast.scenario.with(**settings))

  test "forecasts that differ in more than their topology are in different grids, in the order given" do
    one, other = forecast("1x5", 100), forecast("2x3", 200, arrivals: open_loop(50))
    sliced, threaded = set(one, timeslice_ms: 10), set(one, io_threads_count: 2)
    grids = Grid.of(sweep(one, other, sliced, threaded, forecast("2x5", 120)))
    assert_equal ["10 connections, the recorded time slice, no I/O threads", "50.0 requests/s (poisson), the recorded time slice, no I/O threads"],
      grids.first(2).map(&:words)
    assert_equal "10 connections, time slice 10 ms, no I/O threads", grids[2].words
    assert_equal "10 connections, the recorded time slice, 2 I/O threads", grids[3].words
    assert_equal %w[1x5 2x5], grids.first.forecasts.map { |forecast| forecast.topology.to_s }
  end

  test "forecasts are named by what differs among them, and by their load" do
    assert_equal "10 connections", Grid.of(sweep(forecast("1x5", 100))).first.words
    thinking = Model::Arrivals.closed(1, think_ns: 2_000 * MS)
    assert_equal "1 connection, 2.00 s of think time", Grid.of(sweep(forecast("1x5", 100, arrivals: thinking))).first.words
    bursts = open_loop(80, kind: "bursty", burst_count: 2.5)
    assert_equal "80.0 requests/s (bursty, 2.50 at a time)", Grid.of(sweep(forecast("1x5", 100, arrivals: bursts))).first.words
  end

  test "the best has the highest throughput, or in an open loop, where that is its own rate, the lowest p99" do
    closed = Grid.of(sweep(forecast("1x5", 100), forecast("1x8", 150, p99_ms: 300))).first
    assert_equal ["1x8", "fastest"], [closed.best.topology.to_s, closed.best_word]
    loop = Grid.of(sweep(forecast("1x5", 50, p99_ms: 40, arrivals: open_loop(50)), forecast("1x8", 50.1, p99_ms: 60, arrivals: open_loop(50)))).first
    assert_equal ["1x5", "lowest p99"], [loop.best.topology.to_s, loop.best_word]
  end

  test "a setting without a steady state is never the best" do
    grid = Grid.of(sweep(unsteady("1x5", "too much"))).first
    assert_nil grid.best
    assert_empty grid.steady
  end

  test "reasons name their topologies, some of many" do
    grid = Grid.of(sweep(unsteady("1x1", "a"), unsteady("1x2", "a"), unsteady("1x3", "b"))).first
    assert_equal ["1x1 and 1x2: a.", "1x3: b."], grid.unsteady_reasons
    many = Grid.of(sweep(*(1..9).map { |count| unsteady("1x#{count}", "a") })).first
    assert_equal ["1x1, 1x2, 1x3, 1x4, 1x5 and 4 more: a."], many.unsteady_reasons
    different = Grid.of(sweep(*(1..6).map { |count| unsteady("1x#{count}", count.to_s) })).first
    assert_equal "2 reasons more in the JSON.", different.unsteady_reasons.last
  end

  test "a topology with several minimums is no map, and its name tells the minimum" do
    one = forecast("1x5", 100)
    grid = Grid.of(sweep(one, set(one, min_threads_count: 1))).first
    refute_predicate grid, :map?
    assert_equal ["1x5 min 5", "1x5 min 1"], grid.forecasts.map { |forecast| grid.name(forecast) }
    assert_equal "1x5", Grid.of(sweep(one)).first.name(one)
  end

  test "one topology under many loads is one grid, in which nothing is the best and each has its load in its name" do
    one = forecast("1x5", 100)
    grids = Grid.of(sweep(one, forecast("1x5", 80, arrivals: open_loop(80)), set(one, io_threads_count: 1), set(forecast("1x8", 9, arrivals: open_loop(9, kind: "even")), timeslice_ms: 10)))
    assert_equal ["a load of its own each", nil, nil, false], [grids.first.words, grids.first.best, grids.first.recorded, grids.first.map?]
    assert_equal ["1x5 10 conn. slice - I/O 0", "1x5 80.0/s poisson slice - I/O 0", "1x5 10 conn. slice - I/O 1", "1x8 9.00/s even slice 10 I/O 0"],
      grids.first.forecasts.map { |forecast| grids.first.name(forecast) }
    assert_equal 1, grids.size
  end

  test "the recording's own figures stand beside the forecasts" do
    forecasts = [forecast("1x5", 100), set(forecast("1x5", 100), timeslice_ms: 10), forecast("1x5", 100, arrivals: open_loop(50))]
    grids = Grid.of(sweep(*forecasts, forecast("1x8", 100)))
    assert_equal ["as recorded", nil, nil], grids.map(&:recorded)
  end
end
