# frozen_string_literal: true

module PumaTuner
  module Trial
    # What one worker did since the last look at it, and how it stands.
    #
    # pid: as the worker itself knows it; worker_index: nil of a single process
    # threads_count: that its pool may have now; spawned_count, live_count, waiting_count, queued_count: see
    #   Probe::Puma::PoolSize; why_not: why it does not obey, a word of Probe::Resize, or nil; "silent" where it told
    #   nothing since the last look, and all of these are 0
    # errors_count: responses of 500 and above; endpoints: {name => Histogram of wall times}, of requests that ended
    # parts_ns: {part => nanoseconds}, of these; cpu_ns: of the process; nil where it is not told
    # memory_bytes: PSS, nil where it can't be told
    WorkerReading = Document.define(:pid, :worker_index, :threads_count, :spawned_count, :live_count, :waiting_count,
      :queued_count, :why_not, :errors_count, :endpoints, :parts_ns, :cpu_ns, :memory_bytes,
      nested: {endpoints: {String => Probe::Histogram}}) do
      # @return [Boolean] whether what it has for threads is unknown
      def silent? = why_not == Server::SILENT[:why_not]

      # @return [Probe::Histogram] of all its requests
      def latency = endpoints.values.reduce(Probe::Histogram.empty, :+)

      def requests_count = endpoints.values.sum(&:count)
    end

    # One look at all workers of a server.
    #
    # at_s: since the trial began; since_s: of the look before, from which on it counts
    # workers: Array<WorkerReading>; memory_bytes: PSS of all processes, nil where no control group limits it
    Reading = Document.define(:at_s, :since_s, :workers, :memory_bytes, nested: {workers: [WorkerReading]}) do
      # @return [WorkerReading, nil]
      def worker(pid) = workers.find { |one| one.pid == pid }

      # @param pids [Array<Integer>]
      # @return [Array<WorkerReading>]
      def workers_of(pids) = workers.select { |one| pids.include?(one.pid) }
    end
  end
end
