# frozen_string_literal: true

module PumaTuner
  module Model
    # The cost of a mean request, in time on the cores, at one setting that was recorded.
    #
    # cpu_ns: with the GVL, less garbage collection; gc_ns: garbage collection, nil where it was not timed
    # long_gc_ratio: share of gc_ns in requests with a long collection; long_gcs_ns: sample of those
    # io_ns: waits for IO that were long enough to sleep in, see Demand::SLEPT_NS
    # releases_count: how often it let go of the GVL, and so the most switches that there can be
    # switches_count: how often it went on after a wait for the GVL, so that another thread had run in between
    # busy_cores: cores that the server kept busy meanwhile, on average; requests_per_s: that it served
    Cost = Document.define(:topology, :cpu_ns, :gc_ns, :long_gc_ratio, :long_gcs_ns, :io_ns, :releases_count,
      :switches_count, :busy_cores, :requests_per_s, nested: {topology: Topology}, added: {requests_per_s: nil}) do
      # @return [Boolean] whether its server was a cluster
      def cluster? = topology.workers_count > 1
    end
  end
end
