# frozen_string_literal: true

module PumaTuner
  module Compare
    # The times of one endpoint in one log, by block, so that blocks can be drawn again and again without adding their
    # histograms up: sums up to each bucket are kept, and a percentile is found by halving.
    class Durations
      # @return [Array<Integer>] requests by block
      attr_reader :counts

      # @param cells [Array<Tally::Cell>] by block
      # @param buckets [Array<Integer>] all that any endpoint has, ascending
      def initialize(cells, buckets)
        @buckets = buckets
        @counts = cells.map(&:count)
        @sums_ns = cells.map(&:sum_ns)
        @up_to = cells.map do |cell|
          seen = 0
          buckets.map { |bucket| seen += cell.buckets.fetch(bucket, 0) }
        end
      end

      # @param weights [Array<Integer>] how often each block counts
      # @return [Integer]
      def count(weights) = weighted(@counts, weights)

      # @return [Integer]
      def sum_ns(weights) = weighted(@sums_ns, weights)

      # @param place [Integer] of a bucket
      # @return [Integer] how many are in it, and in those before
      def up_to(place, weights)
        sum = 0
        index = 0
        size = weights.size
        while index < size
          weight = weights[index]
          sum += weight * @up_to[index][place] unless weight.zero?
          index += 1
        end
        sum
      end

      # The percentile of several together, each of whose requests counts as often as its factor says.
      #
      # @param all [Array<Array(Durations, Numeric)>] with factors
      # @param ratio [Float] 0..1
      # @param buckets [Array<Integer>] as above
      # @param weights [Array<Integer>]
      # @return [Float, nil] nanoseconds, times being spread over a bucket evenly; nil of none
      def self.quantile_ns(all, ratio, buckets, weights)
        total = all.sum { |one, factor| one.count(weights) * factor }
        return unless total.positive?
        reach = ->(place) { all.sum { |one, factor| one.up_to(place, weights) * factor } }
        rank = ratio * total
        place = (0...buckets.size).bsearch { |index| reach.call(index) >= rank * (1 - 1e-12) } or return
        below = place.zero? ? 0 : reach.call(place - 1)
        range = Probe::Histogram.range_of(buckets[place])
        range.begin + (range.end - range.begin) * (rank - below) / (reach.call(place) - below)
      end

      # @return [Float, nil] nanoseconds; nil of none
      def self.mean_ns(all, weights)
        count = all.sum { |one, factor| one.count(weights) * factor }
        all.sum { |one, factor| one.sum_ns(weights) * factor }.fdiv(count) if count.positive?
      end

      private

      def weighted(numbers, weights) = numbers.each_with_index.sum { |number, index| number * weights[index] }
    end
  end
end
