# frozen_string_literal: true

module PumaTuner
  module Load
    # The traffic that is sent to a server: which requests, by which generator, from how many clients.
    Traffic = Data.define(:mix, :generator, :connections_count, :seed, :arrivals) do
      def initialize(arrivals: Arrivals.closed, **fields) = super

      # @return [Traffic] itself
      # @raise [LoadToolFailed] when the generator is not to be had
      def ensure_generator
        raise LoadToolFailed, generator.why_not unless generator.available?
        self
      end

      # @param url [String] of the server, on loopback
      # @param duration_s [Numeric] seconds
      # @return [Outcome]
      def send_to(url, duration_s:)
        generator.run(mix:, url_base: url, connections_count:, duration_s:, seed:, arrivals:)
      end

      # @return [String]
      def generator_name = generator.name
    end
  end
end
