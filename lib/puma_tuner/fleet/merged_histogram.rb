# frozen_string_literal: true

module PumaTuner
  module Fleet
    # A classic histogram of many servers together, as Prometheus added it up.
    #
    # bounds_s: upper ends of the buckets, ascending, the last one infinite; counts: in each bucket, not cumulative;
    #   numbers of any kind, as rates are fractions
    MergedHistogram = Data.define(:bounds_s, :counts) do
      # Where a server began within a span, Prometheus' extrapolation treats its buckets a little differently, and sums
      # may fall by a trifle; it levels them out in its own histogram_quantile, too. Sums that fall by more are no
      # histogram.
      const_set(:FALL_MAX_RATIO, 0.05)

      # @param cumulative [Hash{String => Float}] `le` to how many are at most that long
      # @return [MergedHistogram, nil] nil of nothing
      # @raise [InvalidMeasurement] when servers had different bounds, and what was added up means nothing
      def self.of(cumulative)
        return if cumulative.empty?
        sorted = cumulative.map { |le, count| [bound_s(le), count] }.sort
        unless sorted.last.first.infinite?
          raise InvalidMeasurement, "a histogram has no +Inf bucket; check whether relabelling or recording rules " \
            "drop it"
        end
        tolerance = sorted.last.last * self::FALL_MAX_RATIO
        seen = 0.0
        counts = sorted.map do |_, count|
          if count < seen - tolerance
            raise InvalidMeasurement, "a histogram's counts fall: servers with different bounds were added up, as " \
              "from different versions of the exporter; select one version"
          end
          before, seen = seen, [seen, count].max
          seen - before
        end
        new(bounds_s: sorted.map(&:first).freeze, counts: counts.freeze)
      end

      def self.bound_s(text)
        return Float::INFINITY if text == "+Inf"
        Float(text, exception: false) or raise InvalidMeasurement, "a histogram has a bucket up to " \
          "#{text[0, 40].inspect}, which is no number; check whether relabelling or recording rules change the label le"
      end
      private_class_method :bound_s

      # @return [Float]
      def count = counts.sum

      # @param seconds [Numeric]
      # @return [Float] how many are shorter, those of a bucket being spread over it evenly; of the last bucket, which
      #   has no end, none are
      def count_below(seconds)
        counts.each_with_index.sum do |count, bucket|
          next 0.0 if bounds_s[bucket].infinite?
          count * ((seconds - lower(bucket)) / (bounds_s[bucket] - lower(bucket))).clamp(0.0, 1.0)
        end
      end

      # It follows the formula of Prometheus' histogram_quantile: durations are spread evenly over a bucket.
      #
      # @return [Float, nil] seconds; nil of none, and where it lies above all bounds
      def quantile_s(ratio)
        bucket, rank_in_bucket = place(ratio)
        return if bucket.nil? || bounds_s[bucket].infinite?
        low = lower(bucket)
        low + (bounds_s[bucket] - low) * rank_in_bucket
      end

      # @return [Array(Float, Float), nil] the bucket's ends in seconds, between which it lies for sure
      def ends_s(ratio)
        bucket, = place(ratio)
        [lower(bucket), bounds_s[bucket]] if bucket && bounds_s[bucket].finite?
      end

      private

      def lower(bucket) = bucket.zero? ? 0.0 : bounds_s[bucket - 1]

      def place(ratio)
        total = count
        return unless total.positive?
        rank = ratio * total
        below = 0.0
        counts.each_with_index do |count, bucket|
          return [bucket, (rank - below) / count] if count.positive? && below + count >= rank * (1 - 1e-12)
          below += count
        end
        nil
      end
    end
  end
end
