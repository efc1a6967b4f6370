# frozen_string_literal: true

module PumaTuner
  module Predict
    # A scenario to predict: settings of the server, and the load on it.
    #
    # min_threads_count: Puma's minimum; the maximum is the topology's
    # io_threads_count: Puma's max_io_threads (8.0 and newer)
    # timeslice_ms: RUBY_THREAD_TIMESLICE; nil: as it was recorded
    # affinity: whether each worker is bound to a core of its own;
    #   queue_requests: Puma's option, on unless it is switched off
    Scenario = Document.define(:topology, :min_threads_count, :io_threads_count, :timeslice_ms, :affinity,
      :queue_requests, :arrivals, nested: {topology: Topology, arrivals: Model::Arrivals},
      added: {affinity: false, queue_requests: true}) do
      # @param topology [Topology]
      # @param arrivals [Model::Arrivals]
      # @param min_threads_count [Integer] Puma's minimum of threads
      # @param io_threads_count [Integer] Puma's max_io_threads
      # @param timeslice_ms [Integer, nil] milliseconds, RUBY_THREAD_TIMESLICE; nil: Ruby's usual one
      # @param affinity [Boolean] whether each worker is bound to a core
      # @param queue_requests [Boolean] Puma's option
      # @return [Scenario]
      def self.of(topology, arrivals, min_threads_count: topology.threads_count, io_threads_count: 0, timeslice_ms: nil,
        affinity: false, queue_requests: true)
        new(topology:, min_threads_count:, io_threads_count:, timeslice_ms:, affinity:, queue_requests:, arrivals:)
      end

      # @param workload [Model::Workload]
      # @param topology [Topology]
      # @param arrivals [Model::Arrivals]
      # @param settings [Hash] what else differs from the recorded server, see of
      # @return [Scenario]
      def self.as_recorded(workload, topology, arrivals = workload.arrivals, **settings)
        of(topology, arrivals, io_threads_count: workload.io_threads_count || 0,
          queue_requests: workload.queue_requests != false, **settings)
      end

      # @param rate_per_s [Float]
      # @return [Scenario] the same settings in an open loop, of the kind that the load is already if it is one
      def at_rate(rate_per_s)
        return with(arrivals: arrivals.times(rate_per_s / arrivals.rate_per_s)) if arrivals.open?
        with(arrivals: Model::Arrivals.open(rate_per_s, reuse_count: arrivals.reuse_count))
      end

      def to_s
        [topology.to_s, ("+#{io_threads_count} I/O threads" if io_threads_count.positive?),
          ("slice #{timeslice_ms} ms" if timeslice_ms), ("bound to cores" if affinity),
          ("queue_requests off" unless queue_requests), arrivals.to_s].compact.join(", ")
      end
    end
  end
end
