# frozen_string_literal: true

require_relative "fixture"

class MythBustersPicksTest < TunerTest
  include MythBustersFixture

  Picks = MythBustersFixture::Lab::Picks
  Accuracy = MythBustersFixture::Lab::Accuracy

  test "gives the rule's threads: three at 70% IO, twenty at 95%" do
    assert_equal [1, 2, 3, 5, 10, 20], [0.2, 0.5, 0.7, 0.8, 0.9, 0.95].map { |ratio| Picks.rule(ratio) }
  end

  test "stops with Amdahl's law where a thread more brings less than a twentieth" do
    [0.2, 0.5, 0.7, 0.95].each do |ratio|
      speedup = ->(threads) { 1 / ((1 - ratio) + ratio / threads) }
      pick = Picks.amdahl(ratio)
      assert_operator speedup.call(pick + 1) / speedup.call(pick), :<, 1.05
      assert_operator speedup.call(pick) / speedup.call(pick - 1), :>=, 1.05 if pick > 1
    end
  end

  test "takes the fewest of the threads that are as good as any" do
    assert_equal 5, Picks.best({1 => 50.0, 3 => 110.0, 5 => 129.0, 16 => 131.0})
    assert_nil Picks.best({})
  end

  test "takes the fewest of the threads that are as good as any, for all that the repeats show" do
    range = ->(*values) { PumaTuner::Stats::Estimate.of_range(values) }
    scattered = {1 => range.call(50, 51, 52), 3 => range.call(119, 120, 126), 24 => range.call(125, 131, 140)}
    assert_equal 3, Picks.best_measured(scattered), "its best repeat is above the other's worst"
    assert_equal 24, Picks.best_measured(scattered.merge(3 => range.call(119, 120, 121)))
    assert_equal 5, Picks.best_measured({3 => range.call(110), 5 => range.call(129), 16 => range.call(131)}), "without repeats, 3% are alike"
  end

  test "finds the nearest number that was measured, by ratio" do
    assert_equal [16, 1, 3], [[20, [1, 3, 5, 16]], [1, [1, 2]], [4, [3, 8]]].map { |wanted, measured| Picks.nearest(wanted, measured) }
  end

  test "tells how much of the best throughput each piece of advice has" do
    advised = Accuracy.new(cells(0.7, {1 => 50, 3 => 110, 5 => 130, 16 => 125})).advised.first
    assert_equal 5, advised.best
    assert_equal 3, advised.threads.fetch("100 / CPU %")
    assert_in_delta 110 / 130.0, advised.kept.fetch("100 / CPU %")
    assert_nil advised.threads.fetch("forecast"), "there was none"
  end

  Forecast = Data.define(:throughput_per_s, :p50_ns, :p99_ns, :gvl_wait_ns) do
    def steady? = true
  end

  test "tells forecasts that are 10% high as 10% high, of disturbed cells, too" do
    estimate = ->(value) { PumaTuner::Stats::Estimate.of_range([value]) }
    sweep = cells(0.7, (1..20).to_h { |threads| [threads, 40.0 + threads] }).map do |cell|
      cell.with(disturbed: ("others" if cell.threads.even?),
        forecast: Forecast.new(throughput_per_s: estimate.call(cell.throughput_per_s.value * 1.1), p50_ns: estimate.call(18.0e6), p99_ns: estimate.call(40.0e6), gvl_wait_ns: 2.0e6))
    end
    row = Accuracy.new(sweep).rows.find { |one| one.metric == "throughput" }
    assert_equal 20, row.count
    assert_in_delta 0.1, row.median_ratio
    assert_in_delta 0.1, row.worst_ratio
  end

  test "holds forecasts against cells, and leaves out waits that are next to nothing" do
    estimate = ->(*values) { PumaTuner::Stats::Estimate.of_range(values) }
    forecast = Forecast.new(throughput_per_s: estimate.call(49.0, 55.0, 61.0), p50_ns: estimate.call(18.0e6), p99_ns: estimate.call(40.0e6), gvl_wait_ns: 2.0e6)
    one, two = cells(0.7, {1 => 50, 3 => 50}).map { |cell| cell.with(forecast:) }
    rows = Accuracy.new([one.with(gvl_wait_ns: 1_000.0), two, two.with(gvl_wait_ns: nil)]).rows.to_h { |row| [row.metric, row] }
    assert_equal 3, rows.fetch("throughput").count
    assert_in_delta 0.1, rows.fetch("throughput").median_ratio
    assert_in_delta 1.0, rows.fetch("throughput").inside_ratio
    assert_in_delta(-0.1, rows.fetch("p50").worst_ratio)
    assert_in_delta 0.0, rows.fetch("p50").inside_ratio
    assert_equal 2, rows.fetch("GVL wait").count, "0.001 ms measured, but 2 ms predicted, counts; unknown does not"
    assert_nil rows.fetch("GVL wait").inside_ratio, "nobody gave an interval"
    assert_nil Accuracy.miss(one.with(gvl_wait_ns: 1_000.0, forecast: forecast.with(gvl_wait_ns: 5_000.0)), "GVL wait")
  end
end
