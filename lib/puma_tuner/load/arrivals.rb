# frozen_string_literal: true

module PumaTuner
  module Load
    # When requests are meant to leave.
    #
    # kind: "closed": a connection sends its next request think_s after the answer; "even" or "poisson": open, at rate_per_s
    #   whatever the server does, evenly spaced or by chance
    # rate_per_s: of an open loop, else nil; think_s: of a closed one
    # reuse: requests over one connection before it is made anew, a Range from which each connection draws; nil: no end
    Arrivals = Data.define(:kind, :rate_per_s, :think_s, :reuse) do
      const_set(:KINDS, %w[closed even poisson].freeze)

      # @return [Arrivals] a closed loop
      def self.closed(think_s: 0, reuse: nil) = new(kind: "closed", rate_per_s: nil, think_s:, reuse:)

      # @return [Arrivals] an open loop
      def self.open(rate_per_s, kind: "poisson", reuse: nil) = new(kind:, rate_per_s:, think_s: 0, reuse:)

      def open? = kind != "closed"

      def to_s
        [open? ? "#{kind} arrivals, #{Units.rate(rate_per_s)}/s" : "closed loop", ("#{think_s} s of thought" if think_s.positive?),
          ("connections reused #{reuse.min} to #{reuse.max} times" if reuse)].compact.join(", ")
      end
    end
  end
end
