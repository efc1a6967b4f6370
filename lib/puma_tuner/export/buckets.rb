# frozen_string_literal: true

module PumaTuner
  module Export
    # A classic histogram as Prometheus has it.
    #
    # bounds: Bounds; counts: of durations in each bucket, the last one of those above all bounds; sum_ns: of all durations
    Buckets = Data.define(:bounds, :counts, :sum_ns) do
      # @param histogram [Stats::Histogram]
      # @param bounds [Bounds]
      # @param sum_ns [Integer] of the durations
      def self.of(histogram, bounds, sum_ns)
        counts = Array.new(bounds.bounds_ns.size + 1, 0)
        counts[0] += histogram.zero_count
        place = 0
        histogram.counts.each do |bucket, count|
          place += 1 while place < bounds.first_buckets.size && bucket >= bounds.first_buckets[place]
          counts[place] += count
        end
        new(bounds:, counts: counts.freeze, sum_ns:)
      end

      # @param bounds [Bounds]
      def self.none(bounds) = of(Stats::Histogram.empty, bounds, 0)

      # @param other [Buckets] with the same bounds
      def +(other) = with(counts: counts.zip(other.counts).map(&:sum).freeze, sum_ns: sum_ns + other.sum_ns)

      # @return [Integer] durations
      def count = counts.sum

      # @return [Array<Array(String, Integer)>] bounds with how many durations are at most that long, "+Inf" last
      def cumulative
        seen = 0
        [*bounds.names, "+Inf"].zip(counts).map { |name, count| [name, seen += count] }
      end
    end
  end
end
