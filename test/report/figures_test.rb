# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportFiguresTest < TunerTest
  Figures = PumaTuner::Report::Figures

  def estimate(value, low, high, level_ratio: nil) = PumaTuner::Stats::Estimate.new(value:, low:, high:, level_ratio:, samples_count: 6)

  def duration(ns) = PumaTuner::Units.duration(ns)

  test "thousands have a separator" do
    assert_equal %w[0 999 1,000 1,234,567 -], [0, 999, 1_000, 1_234_567, nil].map { |number| Figures.count(number) }
  end

  test "a range says its unit once" do
    assert_equal "41.1 ms (40.8–42.0)", Figures.with_range(estimate(41_100_000, 40_800_000, 42_000_000)) { |ns| duration(ns) }
    assert_equal "40.8–42.0 ms", Figures.range(estimate(41_100_000, 40_800_000, 42_000_000)) { |ns| duration(ns) }
  end

  test "a range across units says both" do
    assert_equal "999 µs (990 µs–1.01 ms)", Figures.with_range(estimate(999_000, 990_000, 1_010_000)) { |ns| duration(ns) }
    assert_equal "1.61 s (713 ms–4.63 s)", Figures.with_range(estimate(1_610_000_000, 713_000_000, 4_630_000_000)) { |ns| duration(ns) }
  end

  test "what was divided by zero is told as such" do
    assert_equal ["Inf s", "NaN s", "Inf"], [duration(Float::INFINITY), duration(Float::NAN), PumaTuner::Units.rate(Float::INFINITY)]
  end

  test "a range that rounds to one number is that number" do
    assert_equal "50 (50)", Figures.with_range(estimate(50, 50, 50), &:to_s)
  end

  test "an unknown figure is a dash" do
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

  test "a narrow interval, and one that ends close to 1, is told with a digit more" do
    assert_equal "1.004x (0.991–1.017)", Figures.ratio(estimate(1.004, 0.991, 1.017))
    assert_equal "1.030x (1.003–1.058)", Figures.ratio(estimate(1.03, 1.003, 1.058))
    assert_equal "1.05x (1.00–1.10)", Figures.ratio(estimate(1.05, 1, 1.1))
  end

  test "a number is read by its metric's unit" do
    metrics = (PumaTuner::Prove::Metric::SERVED + PumaTuner::Prove::Metric::BLOCK).to_h { |metric| [metric.name, metric] }
    read = {"throughput" => 1_868.2, "p99" => 41_100_000.0, "pss" => 74_448_896, "allocations_per_request" => 4_123.7, "allocations_per_iteration" => 3.14}
      .map { |name, number| Figures.number(metrics.fetch(name), number) }
    assert_equal ["1868", "41.1 ms", "71 MiB", "4,124", "3.14"], read
    assert_equal "-", Figures.number(metrics.fetch("p99"), nil)
    assert_equal "41.1 ms (40.8–42.0)", Figures.estimate(metrics.fetch("p99"), estimate(41_100_000, 40_800_000, 42_000_000))
    assert_equal ["1868 requests/s", "p99 41.1 ms"], [Figures.labelled(metrics.fetch("throughput"), 1_868), Figures.labelled(metrics.fetch("p99"), 41_100_000)]
  end

  test "a change has its sign" do
    assert_equal ["+1.20 µs", "-65.0 µs", "0 ns", "-"], [1_200, -65_000, 0, nil].map { |ns| Figures.change_ns(ns) }
  end

  test "a variant is told with what was declared of it, once" do
    cell = TuningFixture.cell("today", "1x5", 1)
    told = {
      "today" => {"topology" => "1x5"}, "new json" => {"gem.json" => "2.8.1"}, "1x5" => {"topology" => "1x5"}, "plain" => {},
      "yjit=on threads=3" => {"yjit" => "on", "threads" => "3"}, "long" => {"env.A" => "a" * 30, "env.B" => "b" * 30}
    }.map { |variant, factors| Figures.variant(cell.with(variant:, factors:)) }
    assert_equal ["today (1x5)", "new json (gem.json=2.8.1)", "1x5", "plain", "yjit=on threads=3", "long (2 factors)"], told
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
