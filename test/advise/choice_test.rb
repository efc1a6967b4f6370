# frozen_string_literal: true

require "test_helper"
require "support/builders"

class ChoiceTest < TunerTest
  include Builders

  def chosen(*forecasts, **constraints)
    Advise::Choice.new(sweep(*forecasts), Advise::Constraints.new(**constraints)).forecast.topology.to_s
  end

  test "the highest throughput wins" do
    assert_equal "2x3", chosen(forecast("1x5", 100), forecast("1x8", 150), forecast("2x3", 200))
  end

  test "of cells within three percent, the one with the fewest slots wins" do
    assert_equal "1x4", chosen(forecast("1x5", 99), forecast("1x8", 100), forecast("1x4", 97), forecast("1x3", 96.9))
  end

  test "of as many slots, the one with the lower p99 wins" do
    assert_equal "2x2", chosen(forecast("1x4", 100, p99_ms: 80), forecast("4x1", 99, p99_ms: 90), forecast("2x2", 98, p99_ms: 70))
  end

  test "what breaks a constraint is out" do
    cells = [forecast("1x5", 100, p99_ms: 90, memory_bytes: 10), forecast("2x5", 150, p99_ms: 95, memory_bytes: 20),
      forecast("3x5", 200, p99_ms: 110, memory_bytes: 30)]
    assert_equal "3x5", chosen(*cells)
    assert_equal "2x5", chosen(*cells, max_p99_ns: 100 * MS)
    assert_equal "1x5", chosen(*cells, max_memory_bytes: 15)
  end

  test "memory that is unknown meets no limit on it" do
    assert_equal "1x5", chosen(forecast("1x5", 100, memory_bytes: 10), forecast("2x5", 150), max_memory_bytes: 1_000)
  end

  test "when nothing meets the constraints, today's stays" do
    assert_equal "1x5", chosen(forecast("1x5", 100), forecast("2x5", 150), max_p99_ns: MS)
  end
end
