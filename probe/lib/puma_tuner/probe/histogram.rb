# frozen_string_literal: true

module PumaTuner
  module Probe
    # Counts how often which duration occurred, in buckets that grow with the duration (log-linear, like HdrHistogram):
    # 32 to each doubling from 1 µs to 73 min, 32 ns wide below that. Histograms of many processes add up, and an
    # earlier reading subtracts from a later one, without loss.
    #
    # zero_count: durations of exactly 0; counts: pairs of bucket and count, ascending, without empty buckets
    Histogram = Document.define(:zero_count, :counts) do
      const_set(:SUB_BUCKET_BITS, 5)
      const_set(:FIRST_OCTAVE, 10)
      const_set(:LAST_OCTAVE, 41)
      const_set(:BUCKETS_COUNT, (41 - 10 + 2) << 5)
      # The middle of a bucket is at most this far from any duration in it, relative to the duration (from 1 µs on).
      const_set(:RELATIVE_ERROR, 1.0 / 64)

      class << self
        # @return [Histogram]
        def empty = new(zero_count: 0, counts: [].freeze)

        # @param values_ns [Enumerable<Integer>]
        # @return [Histogram]
        def of(values_ns)
          zeros, others = values_ns.partition(&:zero?)
          new(zero_count: zeros.size, counts: others.map { |ns| bucket_of(ns) }.tally.sort.each(&:freeze).freeze)
        end

        # @param ns [Integer]
        # @return [Integer] the bucket it counts in; ext/puma_tuner_probe/ledger.c has the same
        def bucket_of(ns)
          return ns >> (self::FIRST_OCTAVE - self::SUB_BUCKET_BITS) if ns >> self::FIRST_OCTAVE == 0
          octave = ns.bit_length - 1
          return self::BUCKETS_COUNT - 1 if octave > self::LAST_OCTAVE
          ((octave - self::FIRST_OCTAVE + 1) << self::SUB_BUCKET_BITS) + ((ns >> (octave - self::SUB_BUCKET_BITS)) & 31)
        end

        # @param bucket [Integer]
        # @return [Range<Integer>] the durations that count in a bucket
        def range_of(bucket)
          octave = [(bucket >> self::SUB_BUCKET_BITS) - 1, 0].max
          width = 1 << (octave + self::FIRST_OCTAVE - self::SUB_BUCKET_BITS)
          low = (bucket < 32) ? bucket * width : (32 + (bucket & 31)) * width
          low...(low + width)
        end
      end

      # @return [Integer] durations counted
      def count = zero_count + counts.sum(&:last)

      # @param ratio [Float] 0..1
      # @return [Integer, nil] the duration that this share of them does not exceed, to RELATIVE_ERROR; nil of none
      def quantile_ns(ratio)
        return if count.zero?
        rank = (ratio * count).ceil.clamp(1, count)
        return 0 if rank <= zero_count
        seen = zero_count
        bucket, = counts.find { |_, count| (seen += count) >= rank }
        range = self.class.range_of(bucket)
        (range.begin + range.end) / 2
      end

      # By the middles of buckets, two loads that are 3% apart would be equal, or two that hardly differ 3% apart. So
      # the durations of a bucket are taken to be spread over it evenly, each in the middle of its part, as
      # {#count_below} takes them, too.
      #
      # @api private
      # @param ratio [Numeric] 0..1
      # @return [Integer, nil] as {#quantile_ns}, for loads that are held against each other
      def spread_quantile_ns(ratio)
        return if count.zero?
        rank = (ratio * count).ceil.clamp(1, count)
        seen = zero_count
        return 0 if rank <= seen
        bucket, inside_count = counts.find { |_, one| (seen += one) >= rank }
        range = self.class.range_of(bucket)
        place = (rank - (seen - inside_count) - 0.5) / inside_count
        (range.begin + (range.end - range.begin) * place).round
      end

      # @param ns [Integer]
      # @return [Float] how many of them are shorter, those of a bucket being spread over it evenly
      def count_below(ns)
        zero_count + counts.sum do |bucket, count|
          range = self.class.range_of(bucket)
          count * (ns - range.begin).fdiv(range.end - range.begin).clamp(0.0, 1.0)
        end
      end

      # @param other [Histogram]
      def +(other) = combine(other) { |one, two| one + two }

      # @param other [Histogram] a reading of the same, before
      def -(other) = combine(other) { |one, two| [one - two, 0].max }

      private

      def combine(other)
        sums = counts.to_h
        other.counts.each { |bucket, count| sums[bucket] = yield(sums.fetch(bucket, 0), count) }
        sums.delete_if { |_, count| count.zero? }
        with(zero_count: yield(zero_count, other.zero_count), counts: sums.sort.each(&:freeze).freeze)
      end
    end
  end
end
