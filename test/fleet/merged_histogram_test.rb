# frozen_string_literal: true

require "test_helper"
require "support/durations"

class FleetMergedHistogramTest < TunerTest
  Merged = PumaTuner::Fleet::MergedHistogram
  Export = PumaTuner::Export

  def of(values_ns)
    cumulative = Durations.in_buckets(values_ns, Export::Bounds::FINE).cumulative
    Merged.of(cumulative.to_h { |le, count| [le, count.to_f] })
  end

  test "percentiles are as right as the buckets' width promises, whatever the distribution" do
    random = Random.new(1)
    {even: -> { 1e6 + random.rand * 1e9 }, skewed: -> { 2e6 * Math.exp(random.rand * 6) }, two_peaks: -> { (random.rand < 0.97) ? 5e6 + random.rand * 1e5 : 4e8 + random.rand * 1e7 }}.each do |name, draw|
      values = Array.new(20_000) { draw.call.round }
      sorted = values.sort
      merged = of(values)
      [0.5, 0.9, 0.99].each do |ratio|
        exact_s = sorted[(ratio * values.size).ceil - 1] / 1e9
        low, high = merged.ends_s(ratio)
        assert exact_s.between?(low * 0.999999, high * 1.000001), "#{name} #{ratio}"
        assert_in_delta exact_s, merged.quantile_s(ratio), exact_s * 0.125, "#{name} #{ratio}"
      end
    end
  end

  # histogram_quantile(0.9) of buckets 10 up to 1, 20 up to 2, worked out by hand.
  test "quantiles follow Prometheus' formula" do
    assert_in_delta 1.8, Merged.of({"1" => 10.0, "2" => 20.0, "+Inf" => 20.0}).quantile_s(0.9), 1e-12
  end

  test "a bound that is no number is refused" do
    assert_match(/a bucket up to "high", which is no number/, assert_raises(PumaTuner::InvalidMeasurement) { Merged.of({"high" => 1.0, "+Inf" => 2.0}) }.message)
  end

  test "a quantile above all bounds is unknown" do
    assert_nil Merged.of({"1" => 10.0, "+Inf" => 20.0}).quantile_s(0.9)
    assert_nil Merged.of({"1" => 0.0, "+Inf" => 0.0}).quantile_s(0.9)
    assert_nil Merged.of({})
  end

  test "a trifle of a fall is levelled out, more is no histogram" do
    assert_equal [100.0, 0.0, 1.0], Merged.of({"1" => 100.0, "2" => 99.0, "+Inf" => 101.0}).counts
    assert_raises(PumaTuner::InvalidMeasurement) { Merged.of({"1" => 100.0, "2" => 60.0, "+Inf" => 101.0}) }
    assert_raises(PumaTuner::InvalidMeasurement) { Merged.of({"1" => 100.0}) }
  end

  test "it tells how many are below a limit, also within a bucket, and none of the last one" do
    histogram = Merged.of({"0.1" => 10.0, "0.2" => 30.0, "+Inf" => 40.0})
    assert_equal [0.0, 5.0, 10.0, 20.0, 30.0, 30.0], [0, 0.05, 0.1, 0.15, 0.2, 9].map { |seconds| histogram.count_below(seconds).round(9) }
  end
end
