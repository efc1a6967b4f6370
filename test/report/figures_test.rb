# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportFiguresTest < TunerTest
  Figures = PumaTuner::Report::Figures

  def estimate(value, low, high, level_ratio: nil) = PumaTuner::Stats::Estimate.new(value:, low:, high:, level_ratio:, samples_count: 6)

  def duration(ns) = PumaTuner::Units.duration(ns)

  test "thousands are set apart" do
    assert_equal %w[0 999 1,000 1,234,567 -], [0, 999, 1_000, 1_234_567, nil].map { |number| Figures.count(number) }
  end

  test "a range says its unit once" do
    assert_equal "41.1 ms (40.8–42.0)", Figures.with_range(estimate(41_100_000, 40_800_000, 42_000_000)) { |ns| duration(ns) }
    assert_equal "40.8–42.0 ms", Figures.range(estimate(41_100_000, 40_800_000, 42_000_000)) { |ns| duration(ns) }
  end

  test "a range across units says both" do
    assert_equal "999 µs (990 µs–1.01 ms)", Figures.with_range(estimate(999_000, 990_000, 1_010_000)) { |ns| duration(ns) }
  end

  test "a range that rounds to one number is that number" do
    assert_equal "50 (50)", Figures.with_range(estimate(50, 50, 50), &:to_s)
  end

  test "unknown is a dash" do
    assert_equal %w[- - - - - -], [Figures.with_range(nil, &:to_s), Figures.range(nil, &:to_s), Figures.ratio(nil), Figures.share(nil), Figures.error(nil), Figures.mib(nil)]
  end

  test "a ratio has its interval" do
    assert_equal "1.64x (1.60–1.69)", Figures.ratio(estimate(1.644, 1.598, 1.69))
    assert_equal "96% interval", Figures.level(estimate(1, 1, 1, level_ratio: 0.96875))
    assert_equal "range", Figures.level(estimate(1, 1, 1))
  end

  test "shares never show a negative zero" do
    assert_equal %w[0.0 100 65.1 -2.0], [-0.0001, 1.0, 0.651, -0.02].map { |ratio| Figures.share(ratio) }
  end

  test "a cell without a measurement has no error" do
    cell = TuningFixture.cell("today", "1x5", 1)
    assert_in_delta(-0.016, Figures.error_ratio(cell, :throughput), 0.001)
    assert_nil Figures.error_ratio(cell.with(throughput_per_s: nil), :throughput)
    assert_nil Figures.error_ratio(cell.with(predicted_p99_ns: nil), :p99)
  end

  test "nothing in a name steers a terminal or turns the text around" do
    assert_equal "GET /a?[31m b?c", Figures.printable("GET /a\e[31m\nb\u202ec")
    assert_equal "caf?", Figures.printable("caf\xE9")
  end

  test "lines are broken between words only" do
    assert_equal ["a bc", "defghi", "j"], Figures.wrap("a bc defghi j", 5)
  end

  test "lists end with and" do
    assert_equal ["", "a", "a and b", "a, b and c"], [[], %w[a], %w[a b], %w[a b c]].map { |words| Figures.list(words) }
  end
end
