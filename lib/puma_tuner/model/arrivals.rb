# frozen_string_literal: true

module PumaTuner
  module Model
    # The way in which requests arrive.
    #
    # kind: "closed": connections_count clients, each sending its next request think_ns after the response; open,
    #   whatever the server does: "poisson" and "even" at rate_per_s; "bursty": groups of burst_count requests on
    #   average (geometric), the groups by chance, rate_per_s requests altogether; "replayed": at times_ns, over and
    #   over
    # connections_count: of an open loop: the most that may be open
    # reuse_count: requests over one connection before it is made anew; nil: no end
    # Fields that do not belong to the kind are nil.
    Arrivals = Document.define(:kind, :connections_count, :think_ns, :rate_per_s, :burst_count, :times_ns,
      :reuse_count) do
      const_set(:OPEN_CONNECTIONS_COUNT, 1_000)

      # What a simulation can be of. One of fewer requests per second would last so long that no 64 bits hold its
      # nanoseconds.
      const_set(:RATES_PER_S, 0.001..200_000)
      const_set(:CONNECTIONS_COUNTS, 1..10_000)

      # @param connections_count [Integer]
      # @param think_ns [Integer] nanoseconds between a response and the next request of a connection
      # @param reuse_count [Integer, nil] requests over one connection
      # @return [Arrivals] a closed loop
      def self.closed(connections_count, think_ns: 0, reuse_count: nil)
        new(kind: "closed", connections_count:, think_ns:, rate_per_s: nil, burst_count: nil,
          times_ns: nil, reuse_count:)
      end

      # @param rate_per_s [Numeric]
      # @param kind [String] "poisson" or "even"
      # @param burst_count [Integer, nil] requests that come together
      # @param connections_count [Integer] the most that may be open
      # @param reuse_count [Integer, nil] requests over one connection
      # @return [Arrivals] an open loop
      def self.open(rate_per_s, kind: "poisson", burst_count: nil, connections_count: self::OPEN_CONNECTIONS_COUNT,
        reuse_count: nil)
        new(kind:, connections_count:, think_ns: nil, rate_per_s: rate_per_s.to_f, burst_count:,
          times_ns: nil, reuse_count:)
      end

      # @param times_ns [Array<Integer>] ascending, from 0; the gap between the
      #   last two stands before the first is repeated
      # @param connections_count [Integer] the most that may be open
      # @param reuse_count [Integer, nil] requests over one connection
      # @return [Arrivals] an open loop of recorded instants
      def self.replayed(times_ns, connections_count: self::OPEN_CONNECTIONS_COUNT, reuse_count: nil)
        round_ns = 2 * times_ns[-1] - times_ns[-2] - times_ns[0]
        new(kind: "replayed", connections_count:, think_ns: nil,
          rate_per_s: times_ns.size * Units::NS_PER_S.fdiv(round_ns), burst_count: nil, times_ns:, reuse_count:)
      end

      # @return [Boolean] whether requests come whatever the server does
      def open? = kind != "closed"

      # @param factor [Numeric]
      # @return [Arrivals] so many times the traffic: the rate of an open loop, the connections of a closed one
      def times(factor)
        return with(connections_count: [(connections_count * factor).round, 1].max) unless open?
        with(rate_per_s: rate_per_s * factor, times_ns: times_ns&.map { |ns| (ns / factor).round })
      end

      # @return [Arrivals] without the instants, which may be many
      def summary = with(times_ns: nil)

      def to_s
        unless open?
          think_time = ", #{Units.duration(think_ns)} of think time" if think_ns.to_i.positive?
          return "#{Units.counted(connections_count, "connection")}#{think_time}"
        end
        "#{Units.rate(rate_per_s)}/s#{", #{kind}" unless kind == "poisson"}"
      end
    end
  end
end
