# frozen_string_literal: true

module OtherGenerators
  # Takes out of wrk's latencies the samples that wrk made up.
  #
  # After a run wrk computes the interval at which a connection "should" have been answered, e = runtime / (requests /
  # connections), and adds for every sample n above 2e further samples n - e, n - 2e, … down to above e, as if requests
  # had been due while the connection waited. In a closed loop none were. One slow answer in a fast run becomes hundreds
  # of slow ones, and the percentiles describe a load that nobody sent.
  #
  # The additions depend on the true samples alone: wrk goes upwards and adds only below where it stands. So above e
  # the count at m is the sum of the true counts at m, m + e, m + 2e, …, and the true count is what the count at m
  # exceeds the one at m + e by. (wrk 4.0 to 4.2, src/stats.c and src/wrk.c.)
  module WrkCorrection
    # @param duration_us [Integer] wrk's runtime
    # @param requests_count [Integer] answered
    # @param connections_count [Integer]
    # @return [Integer, nil] e, in wrk's whole microseconds; nil when wrk has not corrected
    def self.interval_us(duration_us:, requests_count:, connections_count:)
      rounds_count = requests_count / connections_count
      duration_us / rounds_count if rounds_count.positive?
    end

    # @param corrected [Hash{Integer => Integer}] microseconds => samples, as wrk has them in the end
    # @param interval_us [Integer, nil] as above
    # @return [Hash{Integer => Integer}, nil] the true samples, microseconds ascending; nil when this cannot have been
    #   made by that correction
    def self.undo(corrected, interval_us)
      original = corrected.sort.to_h do |us, count|
        invented_count = (interval_us && us > interval_us) ? corrected.fetch(us + interval_us, 0) : 0
        [us, count - invented_count]
      end
      original.reject { |_, count| count.zero? } unless original.any? { |_, count| count.negative? }
    end
  end
end
