# frozen_string_literal: true

module PumaTuner
  module Load
    # The instants at which requests are meant to leave, as a generator is told; it is also told over how many
    # connections, and what it can be told is what generators know. Model::Arrivals says how simulated requests arrive:
    # it knows clients, groups and recorded instants, and no range to draw from. What both have, they have in the same
    # units.
    #
    # kind: "closed": a connection sends its next request think_ns after the response; "even" or "poisson": open, at
    #   rate_per_s whatever the server does, evenly spaced or by chance
    # rate_per_s: of an open loop, else nil; think_ns: of a closed one, else 0
    # reuse: requests over one connection before it is made anew, a Range from which each connection draws; nil: no end
    Arrivals = Data.define(:kind, :rate_per_s, :think_ns, :reuse) do
      const_set(:KINDS, %w[closed even poisson].freeze)

      # The most connections of an open loop, unless somebody says otherwise: next to no request waits for one.
      const_set(:OPEN_CONNECTIONS_COUNT, 1_000)

      # @param think_ns [Integer] nanoseconds between a response and the next request of a connection
      # @param reuse [Range, nil] requests over one connection
      # @return [Arrivals] a closed loop
      def self.closed(think_ns: 0, reuse: nil) = new(kind: "closed", rate_per_s: nil, think_ns:, reuse:)

      # @param rate_per_s [Numeric] requests per second
      # @param kind [String] "poisson" or "even"
      # @param reuse [Range, nil] requests over one connection
      # @return [Arrivals] an open loop
      def self.open(rate_per_s, kind: "poisson", reuse: nil) = new(kind:, rate_per_s:, think_ns: 0, reuse:)

      # @return [Boolean] whether requests leave whatever the server does
      def open? = kind != "closed"

      # Of arrivals by chance (Poisson), a count scatters by its own square root.
      #
      # @param duration_s [Numeric] seconds of an open loop
      # @return [Integer] requests that are due meanwhile, at least; fewer are one time in 700, three standard
      #   deviations away
      def least_count(duration_s)
        count = rate_per_s * duration_s
        (count - ((kind == "even") ? 0 : 3 * Math.sqrt(count))).floor.clamp(0..)
      end

      # @param count [Integer] requests of an open loop
      # @return [Float] seconds in which so many are due, at least
      def duration_s_of(count)
        count = ((3 + Math.sqrt(9 + 4 * count)) / 2)**2 unless kind == "even"
        count.fdiv(rate_per_s)
      end

      # @return [Integer, nil] requests over one connection, on average; nil: no end
      def reuse_count = reuse && reuse.sum.fdiv(reuse.size).round

      def to_s
        [open? ? "#{kind} arrivals, #{Units.rate(rate_per_s)}/s" : "closed loop",
          ("#{Units.duration(think_ns)} of think time" if think_ns.positive?),
          ("connections reused #{reuse.min} to #{reuse.max} times" if reuse)].compact.join(", ")
      end
    end
  end
end
