# frozen_string_literal: true

require "test_helper"

class ExportBucketsTest < TunerTest
  include PumaTuner::Export

  Histogram = PumaTuner::Probe::Histogram

  ALL = {fine: Bounds::FINE, coarse: Bounds::COARSE, waits: Bounds::WAITS}.freeze

  test "bounds are edges of the ledgers' buckets, ascending" do
    ALL.each_value do |bounds|
      assert_equal bounds.bounds_ns.sort.uniq, bounds.bounds_ns
      bounds.bounds_ns.zip(bounds.first_buckets) { |ns, bucket| assert_equal ns, Histogram.range_of(bucket).begin }
    end
  end

  # A change of these is a new schema: histograms of old and new servers would not add up.
  test "bounds are those of schema 1" do
    assert_equal "1", SCHEMA
    assert_equal [137, "0.000262144", "34.359738368"], [Bounds::FINE.names.size, *Bounds::FINE.names.values_at(0, -1)]
    assert_equal [35, "0.000262144", "34.359738368"], [Bounds::COARSE.names.size, *Bounds::COARSE.names.values_at(0, -1)]
    assert_equal [39, "1.6384e-05", "8.589934592"], [Bounds::WAITS.names.size, *Bounds::WAITS.names.values_at(0, -1)]
    assert_equal %w[0.000262144 0.000294912 0.00032768], Bounds::FINE.names.first(3)
  end

  test "every duration is counted at and above its bound, and none is lost" do
    random = Random.new(1)
    values = Array.new(2_000) { (10**(3 + random.rand * 8)).round }
    ALL.each_value do |bounds|
      buckets = Buckets.of(Histogram.of(values), bounds, values.sum)
      assert_equal values.size, buckets.count
      cumulative = buckets.cumulative
      assert_equal ["+Inf", values.size], cumulative.last
      bounds.bounds_ns.zip(cumulative) { |ns, (_, count)| assert_equal values.count { |value| value < ns }, count, ns }
    end
  end

  test "a ledger's own buckets, and coarser ones, give the same as the durations" do
    random = Random.new(2)
    values = Array.new(500) { (10**(3 + random.rand * 8)).round }
    histogram = Histogram.of(values)
    all = Array.new(Histogram::BUCKETS_COUNT) { |bucket| histogram.counts.to_h.fetch(bucket, 0) }
    ALL.each_value { |bounds| assert_equal Buckets.of(histogram, bounds, values.sum), Buckets.of_counts(all, values.size, bounds, values.sum) }
    assert_equal Buckets.of(histogram, Bounds::COARSE, values.sum), Buckets.of(histogram, Bounds::FINE, values.sum).coarser(Bounds::COARSE)
  end

  test "buckets of processes add up" do
    one, two = [[1_000_000, 5_000_000], [5_000_000, 70_000_000_000]].map { |values| Buckets.of(Histogram.of(values), Bounds::COARSE, values.sum) }
    assert_equal Buckets.of(Histogram.of([1_000_000, 5_000_000, 5_000_000, 70_000_000_000]), Bounds::COARSE, 70_011_000_000), one + two
    assert_equal one, one + Buckets.none(Bounds::COARSE)
  end
end
