# frozen_string_literal: true

module PumaTuner
  module Predict
    # What is to be predicted: settings of the server, and the load on it.
    #
    # min_threads_count: Puma's minimum; the maximum is the topology's
    # io_threads_count: Puma's max_io_threads (8.0 and newer)
    # timeslice_ms: RUBY_THREAD_TIMESLICE; nil: as it was recorded
    Scenario = Document.define(:topology, :min_threads_count, :io_threads_count, :timeslice_ms, :arrivals,
      nested: {topology: Topology, arrivals: Model::Arrivals}) do
      # @param topology [Topology]
      # @param arrivals [Model::Arrivals]
      def self.of(topology, arrivals, min_threads_count: topology.threads_count, io_threads_count: 0, timeslice_ms: nil)
        new(topology:, min_threads_count:, io_threads_count:, timeslice_ms:, arrivals:)
      end

      def to_s
        [topology.to_s, ("+#{io_threads_count} I/O threads" if io_threads_count.positive?), ("slice #{timeslice_ms} ms" if timeslice_ms), arrivals.to_s].compact.join(", ")
      end
    end
  end
end
