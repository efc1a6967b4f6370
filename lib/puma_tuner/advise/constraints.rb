# frozen_string_literal: true

module PumaTuner
  module Advise
    # What advice about topologies must respect; nil where anything goes. A steady state is asked for always.
    #
    # max_memory_bytes: PSS of all processes together; memory_limited_by: "option", where somebody asked for it, or
    #   "container"; nil without one
    # max_p99_ns: latency as the client sees it
    Constraints = Document.define(:max_memory_bytes, :memory_limited_by, :max_p99_ns) do
      def initialize(max_memory_bytes: nil, memory_limited_by: max_memory_bytes && "option", max_p99_ns: nil) = super

      # @param facts [Probe::MachineFacts] of where the server runs
      # @return [Constraints] with its control group's memory limit, where none was asked for
      def inside(facts)
        return self if max_memory_bytes || facts.memory_limit_bytes.nil?
        with(max_memory_bytes: facts.memory_limit_bytes, memory_limited_by: "container")
      end

      # @param forecast [Predict::Forecast]
      # @param memory_bytes [Integer, nil] that it takes at most. Where that is
      #   unknown, it does not respect a limit: nobody could promise it
      def met_by?(forecast, memory_bytes: forecast.memory_bytes)
        forecast.steady? && within?(memory_bytes, max_memory_bytes) && within?(forecast.p99_ns.value, max_p99_ns)
      end

      # @return [Boolean] whether the limit on memory is one that nobody had to ask for
      def of_container? = memory_limited_by == "container"

      def any? = !!(max_memory_bytes || max_p99_ns)

      # @return [String] "memory of at most 512 MiB and a p99 of at most 200 ms"
      def to_s
        most = of_container? ? "the container's memory limit of" : "memory of at most"
        [
          max_memory_bytes && "#{most} #{Units.mebibytes(max_memory_bytes)}",
          max_p99_ns && "a p99 of at most #{Units.duration(max_p99_ns)}"
        ].compact.join(" and ")
      end

      private

      def within?(number, limit) = limit.nil? || (!number.nil? && number <= limit)
    end
  end
end
