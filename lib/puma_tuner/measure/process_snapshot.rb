# frozen_string_literal: true

module PumaTuner
  module Measure
    # What this process did since a moment: its pool threads, its requests, its CPU time.
    class ProcessSnapshot
      def initialize(recorder:, way_in:)
        @recorder = recorder
        @way_in = way_in
        @cost_per_event_ns = GvlClock.cost_per_event_ns(10_000)
        @threads = ThreadWindow.new
        begin_window
      end

      # Forgets what was before.
      def begin_window
        @recorder.reset
        @threads.restart
        @began = instant
      end

      # @return [Hash] plain values, for JSON
      def to_h
        requests = @recorder.endpoints_by_thread
        {
          pid: Process.pid, way_in: @way_in, worker_index: $0[/cluster worker (\d+)/, 1]&.to_i, **elapsed,
          cost_per_event_ns: @cost_per_event_ns, why_not: GvlClock.why_not,
          unobserved_threads_count: GvlClock.unobserved_threads_count,
          server: Host::Launch.server_facts,
          threads: @threads.numbers.map { |thread, numbers| thread_hash(thread, numbers, requests.fetch(thread, [])) },
          endpoints: requests.values.flatten.group_by(&:name).map { |name, records| endpoint_hash(name, records) }
        }
      end

      private

      def instant
        {
          duration_ns: Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond),
          cpu_ns: Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond),
          gc_count: GC.count, events_count: GvlClock.events_count
        }
      end

      # Events of threads that have ended are gone from the count, hence the floor.
      def elapsed = instant.to_h { |name, now| [name, [now - @began[name], 0].max] }

      def thread_hash(thread, numbers, records)
        {name: thread.name, requests_count: records.sum(&:requests_count), numbers:}
      end

      def endpoint_hash(name, records)
        {
          name:, requests_count: records.sum(&:requests_count),
          sums: Recorder::SUMS.zip(records.map(&:sums).transpose.map(&:sum)).to_h,
          traces: records.flat_map(&:traces)
        }
      end
    end
  end
end
