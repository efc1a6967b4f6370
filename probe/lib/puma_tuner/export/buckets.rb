# frozen_string_literal: true

module PumaTuner
  module Export
    # A classic histogram as Prometheus has it.
    #
    # bounds: Bounds; counts: of durations in each bucket, the last one of those
    #   above all bounds; sum_ns: of all durations
    Buckets = Data.define(:bounds, :counts, :sum_ns) do
      # @param all [Array<Integer>] how many in each of a ledger's own buckets
      # @param count [Integer] of all durations, those of exactly 0 included, which are in no bucket
      # @param bounds [Bounds]
      # @param sum_ns [Integer] of the durations
      def self.of(all, count, bounds, sum_ns)
        first = 0
        counts = bounds.first_buckets.map { |bucket| all[first, bucket - first].sum.tap { first = bucket } }
        counts << all[first..].sum
        counts[0] += [count - counts.sum, 0].max
        new(bounds:, counts: counts.freeze, sum_ns:)
      end

      # @param several [Array<Buckets>] with these bounds
      # @param bounds [Bounds]
      def self.sum(several, bounds)
        none = Array.new(bounds.bounds_ns.size + 1, 0)
        new(bounds:, counts: [none, *several.map(&:counts)].transpose.map(&:sum).freeze, sum_ns: several.sum(&:sum_ns))
      end

      # @param wider [Bounds] some of these bounds, the first and the last one among them
      # @return [Buckets]
      def coarser(wider)
        first = 0
        joined = wider.bounds_ns.map do |ns|
          last = bounds.bounds_ns.index(ns)
          counts[first..last].sum.tap { first = last + 1 }
        end
        with(bounds: wider, counts: [*joined, counts.last].freeze)
      end

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
