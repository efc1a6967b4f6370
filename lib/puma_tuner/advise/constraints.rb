# frozen_string_literal: true

module PumaTuner
  module Advise
    # What advice about topologies must respect; nil where anything goes. A steady state is asked for always.
    #
    # max_memory_bytes: PSS of all processes together; max_p99_ns: latency as the client sees it
    Constraints = Data.define(:max_memory_bytes, :max_p99_ns) do
      def initialize(max_memory_bytes: nil, max_p99_ns: nil) = super

      # @param forecast [Predict::Forecast] one whose memory is unknown does not respect a limit on memory: nobody could
      #   promise it
      def met_by?(forecast)
        forecast.steady? && within?(forecast.memory_bytes, max_memory_bytes) && within?(forecast.p99_ns.value, max_p99_ns)
      end

      def any? = !!(max_memory_bytes || max_p99_ns)

      # @return [String] "memory of at most 512 MiB and a p99 of at most 200 ms"
      def to_s
        [
          max_memory_bytes && "memory of at most #{Units.mebibytes(max_memory_bytes)}",
          max_p99_ns && "a p99 of at most #{Units.duration(max_p99_ns)}"
        ].compact.join(" and ")
      end

      private

      def within?(number, limit) = limit.nil? || (!number.nil? && number <= limit)
    end
  end
end
