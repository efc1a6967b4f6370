# frozen_string_literal: true

module PumaTuner
  module Measure
    # What this process did since a moment: its pool threads, its requests, its CPU time.
    class ProcessSnapshot
      # "puma srv tp 001", and not "puma tp reap".
      POOL_THREAD = /\Apuma .*tp \d+\z/

      def initialize(recorder:, way_in:)
        @recorder = recorder
        @way_in = way_in
        @cost_per_event_ns = GvlClock.cost_per_event_ns(10_000)
        begin_window
      end

      # Forgets what was before.
      def begin_window
        @recorder.reset
        @began = instant
        @thread_totals = pool_threads.to_h { |thread| [thread, thread_numbers(thread)] }
      end

      # @return [Hash] plain values, for JSON
      def to_h
        now = instant
        requests = @recorder.endpoints_by_thread
        {
          pid: Process.pid, way_in: @way_in, worker_index: $0[/cluster worker (\d+)/, 1]&.to_i,
          duration_ns: now[:monotonic_ns] - @began[:monotonic_ns],
          cpu_ns: now[:cpu_ns] - @began[:cpu_ns], gc_count: now[:gc_count] - @began[:gc_count],
          events_count: [now[:events_count] - @began[:events_count], 0].max, cost_per_event_ns: @cost_per_event_ns,
          unobserved_threads_count: GvlClock.unobserved_threads_count, why_not: GvlClock.why_not,
          server: Host::Launch.server_facts,
          threads: pool_threads.map { |thread| thread_hash(thread, requests.fetch(thread, [])) },
          endpoints: requests.values.flatten.group_by(&:name).map { |name, records| endpoint_hash(name, records) }
        }
      end

      private

      def instant
        {
          monotonic_ns: Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond),
          cpu_ns: Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond),
          gc_count: GC.count, events_count: GvlClock.events_count
        }
      end

      def pool_threads = Thread.list.select { |thread| POOL_THREAD.match?(thread.name.to_s) }

      # The totals, and the CPU clock of a thread that is not ours: Linux makes its clock id from the thread id.
      def thread_numbers(thread)
        totals = GvlClock.totals(thread) or return
        [*totals, Process.clock_gettime((~thread.native_thread_id << 3) | 6, :nanosecond)]
      rescue SystemCallError # it ended just now
        nil
      end

      def thread_hash(thread, records)
        numbers = thread_numbers(thread)
        before = @thread_totals[thread]
        numbers = numbers.zip(before).map { |now, then_| [now - then_, 0].max } if numbers && before
        names = [*GvlClock::TOTALS, :cpu_clock]
        {name: thread.name, requests_count: records.sum(&:requests_count), numbers: numbers && names.zip(numbers).to_h}
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
