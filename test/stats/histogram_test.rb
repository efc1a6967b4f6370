# frozen_string_literal: true

require "test_helper"
require "json"

class HistogramTest < TunerTest
  Histogram = PumaTuner::Probe::Histogram

  def durations(seed, count = 500)
    random = Random.new(seed)
    Array.new(count) { random.rand(2**random.rand(10..40)) }
  end

  test "every duration lies in the range of its bucket" do
    [0, 5, 31, 32, 1_023, 1_024, 1_055, 1_056, 123_456_789, 2**42 - 1, *durations(1)].each do |ns|
      assert_includes Histogram.range_of(Histogram.bucket_of(ns)), ns
    end
  end

  test "ranges follow each other without a gap" do
    ranges = (0...Histogram::BUCKETS_COUNT).map { |bucket| Histogram.range_of(bucket) }
    ranges.each_cons(2) { |one, two| assert_equal one.end, two.begin }
    assert_equal 2**42, ranges.last.end
  end

  test "the middle of a bucket is within the stated error of all that counts in it" do
    durations(2).select { |ns| ns >= 1_024 }.each do |ns|
      range = Histogram.range_of(Histogram.bucket_of(ns))
      assert_operator ((range.begin + range.end) / 2 - ns).abs, :<=, ns * Histogram::RELATIVE_ERROR + 1
    end
  end

  test "quantiles are those of the sorted durations, within the stated error" do
    values = durations(3).map { |ns| ns + 1_024 }
    [0.01, 0.25, 0.5, 0.9, 0.99, 1].each do |ratio|
      exact = values.sort[(ratio * values.size).ceil - 1]
      assert_in_delta exact, Histogram.of(values).quantile_ns(ratio), exact * Histogram::RELATIVE_ERROR + 1
    end
  end

  test "durations of zero are counted" do
    histogram = Histogram.of([0, 0, 0, 5_000])
    assert_equal [4, 0], [histogram.count, histogram.quantile_ns(0.75)]
    assert_in_delta 5_000, histogram.quantile_ns(0.76), 80
  end

  test "an empty histogram has no quantile" do
    assert_nil Histogram.empty.quantile_ns(0.5)
  end

  test "two together are as one of both; taking one away leaves the other" do
    one, two = [4, 5].map { |seed| durations(seed) << 0 }
    assert_equal Histogram.of(one + two), Histogram.of(one) + Histogram.of(two)
    assert_equal Histogram.of(two), Histogram.of(one + two) - Histogram.of(one)
  end

  test "it is the same after it was written and read" do
    histogram = Histogram.of(durations(6))
    assert_equal histogram, Histogram.from_document(JSON.parse(JSON.generate(histogram.to_document)))
  end
end
