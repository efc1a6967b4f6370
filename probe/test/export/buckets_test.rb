# frozen_string_literal: true

require "test_helper"
require "support/durations"

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
      buckets = Durations.in_buckets(values, bounds)
      assert_equal values.size, buckets.count
      cumulative = buckets.cumulative
      assert_equal ["+Inf", values.size], cumulative.last
      bounds.bounds_ns.zip(cumulative) { |ns, (_, count)| assert_equal values.count { |value| value < ns }, count, ns }
    end
  end

  test "coarser buckets are those of the durations" do
    random = Random.new(2)
    values = Array.new(500) { (10**(3 + random.rand * 8)).round }
    assert_equal Durations.in_buckets(values, Bounds::COARSE), Durations.in_buckets(values, Bounds::FINE).coarser(Bounds::COARSE)
  end

  test "buckets are cumulative" do
    several = [[1_000_000, 5_000_000], [5_000_000, 70_000_000_000]].map { |values| Durations.in_buckets(values, Bounds::COARSE) }
    assert_equal Durations.in_buckets([1_000_000, 5_000_000, 5_000_000, 70_000_000_000], Bounds::COARSE), Buckets.sum(several, Bounds::COARSE)
    assert_equal Durations.in_buckets([], Bounds::COARSE), Buckets.sum([], Bounds::COARSE)
  end
end
