# frozen_string_literal: true

module PumaTuner
  module Load
    # The traffic that is sent to a server: which requests, by which generator, from how many clients.
    #
    # clients: Clients that have gone through the mix's set-up lines; nil: none, or not yet
    Traffic = Data.define(:mix, :generator, :connections_count, :seed, :arrivals, :clients) do
      def initialize(arrivals: Arrivals.closed, clients: nil, **fields) = super

      # @return [Traffic] itself
      # @raise [LoadToolFailed] when the generator is not to be had
      def ensure_generator
        raise LoadToolFailed, generator.why_not unless generator.available?
        self
      end

      # Lets each client send the mix's set-up lines, once for all that is then sent to this server. Where it is not
      # called, each `send_to` begins with it, and whoever looks at the server meanwhile sees these requests, too.
      #
      # @param url [String] of the server, on loopback
      # @return [Traffic] of clients that are set up for it; itself where there are no such lines
      # @raise [InvalidMeasurement] when a response is not as it must be
      def set_up(url)
        return self if mix.set_up.empty?
        with(clients: generator.set_up(mix:, url_base: url, connections_count:, seed:))
      end

      # @param url [String] of the server, on loopback
      # @param duration_s [Numeric] seconds
      # @return [Outcome]
      def send_to(url, duration_s:)
        generator.run(mix:, url_base: url, connections_count:, duration_s:, seed:, arrivals:, clients:)
      end

      # @return [String]
      def generator_name = generator.name
    end
  end
end
