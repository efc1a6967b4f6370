# frozen_string_literal: true

module PumaTuner
  module Export
    # The upper bounds of exported buckets: edges of the ledgers' own, so that counts move over whole and nothing is
    # guessed, and the same everywhere and forever, so that histograms of many pods add up.
    #
    # The buckets lead from one power of two nanoseconds to another, with so many equal steps to each doubling (a
    # divisor of 32). A percentile is known to the bucket it lies in: with eight steps, to 12.5% of itself at worst,
    # half of that from the middle; with two, to 50%.
    #
    # (Prometheus has `le` inclusive where the ledgers' buckets end exclusive: a duration of exactly a bound, to the
    # nanosecond, counts one bucket further up.)
    #
    # bounds_ns: ascending; first_buckets: of the ledgers' buckets, the first that does not belong below each bound
    Bounds = Data.define(:bounds_ns, :first_buckets) do
      # @param octaves [Range<Integer>] exponents of 2
      # @param steps_count [Integer] to each doubling
      def self.over(octaves, steps_count)
        inside = (octaves.begin...octaves.end).flat_map do |octave|
          (0...steps_count).map { |step| (1 << octave) + step * (1 << octave) / steps_count }
        end
        bounds_ns = [*inside, 1 << octaves.end].freeze
        new(bounds_ns:, first_buckets: bounds_ns.map { |ns| Probe::Histogram.bucket_of(ns) }.freeze)
      end

      # @return [Array<String>] in seconds, as `le`, without the last one, "+Inf"
      def names = bounds_ns.map { |ns| ns.fdiv(1_000_000_000).to_s.freeze }
    end

    class Bounds
      # 0.26 ms to 34 s. Of all requests of a server together, where p99 is to be compared to a few percent.
      FINE = over(18..35, 8)
      # These buckets are for each endpoint, and for each kind of job.
      COARSE = over(18..35, 2)
      # 16 µs to 8.6 s: of waits in Puma and for the GVL, most of which are short.
      WAITS = over(14..33, 2)
    end
  end
end
