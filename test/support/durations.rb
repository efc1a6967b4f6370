# frozen_string_literal: true

# Durations as a ledger holds them, in the buckets in which they are exported.
module Durations
  Histogram = PumaTuner::Probe::Histogram

  # @param values_ns [Array<Integer>]
  # @param bounds [PumaTuner::Export::Bounds]
  # @return [PumaTuner::Export::Buckets]
  def self.in_buckets(values_ns, bounds)
    tally = values_ns.reject(&:zero?).map { |ns| Histogram.bucket_of(ns) }.tally
    PumaTuner::Export::Buckets.of(Array.new(Histogram::BUCKETS_COUNT) { |bucket| tally.fetch(bucket, 0) }, values_ns.size, bounds, values_ns.sum)
  end
end
