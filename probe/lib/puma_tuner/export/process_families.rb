# frozen_string_literal: true

module PumaTuner
  module Export
    # The metrics of each process: counters begin anew with the process, as those of processes do; `worker` is its index
    # in the cluster, or "master", so that a restart makes no new series.
    class ProcessFamilies
      SECONDS = ->(ns) { ns.fdiv(Units::NS_PER_S) }

      # name => [type, help, key of the gauges, conversion]
      GAUGES = {
        "worker_threads" => ["gauge", "Pool threads that the worker may have.", "threads_count"],
        "worker_busy_threads" => ["gauge", "Pool threads that serve a request, as they were seen last.",
          "busy_threads_count"],
        "worker_queued_requests" => ["gauge", "Requests that wait for a pool thread, as they were seen last.",
          "queued_count"],
        "gc_runs_total" => ["counter", "Garbage collections.", "gc_count"],
        "gc_major_runs_total" => ["counter", "Of them, those of the whole heap.", "major_gc_count"],
        "gc_seconds_total" => ["counter", "Time in garbage collection.", "gc_ns", SECONDS],
        "allocated_objects_total" => ["counter", "Objects made.", "allocated_count"],
        "heap_pages" => ["gauge", "Pages of the heap.", "heap_pages_count"],
        "heap_live_slots" => ["gauge", "Slots of the heap with an object in them.", "live_slots_count"],
        "yjit_enabled" => ["gauge", "Whether YJIT runs; absent where Ruby has none.", "yjit_enabled"],
        "yjit_code_region_bytes" => ["gauge", "Machine code made by YJIT.", "code_bytes"],
        "yjit_alloc_bytes" => ["gauge", "What YJIT keeps beside it.", "compiler_bytes"],
        "yjit_limit_bytes" => ["gauge", "What YJIT may take: machine code in Ruby 3.3, all together from 3.4 on. " \
          "As set by RUBYOPT, or the default.", "limit_bytes"],
        "yjit_limited_bytes" => ["gauge", "What of its memory that limit counts.", "limited_bytes"],
        "yjit_compiled_iseqs" => ["gauge", "Methods and blocks that YJIT has compiled.", "compiled_count"],
        "yjit_invalidations_total" => ["counter", "Compiled code that was thrown away.", "invalidated_count"],
        "yjit_compile_seconds_total" => ["counter", "Time in YJIT's compiler.", "compile_ns", SECONDS]
      }.freeze

      # A pool thread's time consists of these parts.
      STATES = Probe::Parts::THREAD

      # @param processes [Array<Reading::ServerProcess>]
      def initialize(processes)
        @processes = processes
      end

      # @return [Array<Family>]
      def call
        [
          family("process_cpu_seconds_total", "counter", "CPU time of all threads, by the kernel.",
            each { |process| process.cpu_ns&.then(&SECONDS) }),
          family("process_resident_memory_bytes", "gauge", "Resident memory; what processes share is counted in each.",
            memory(:rss_bytes)),
          family("process_pss_bytes", "gauge", "Resident memory, what is shared divided among its users: adds up.",
            memory(:pss_bytes)),
          threads, *GAUGES.map { |name, facts| from_gauges(name, *facts) }
        ]
      end

      private

      def family(...) = Family.of(...)

      # Where two processes have one index, the last one counts (see Reading): counters must not add up those that are
      # about to end.
      def each = @processes.to_h { |process| [{worker: process.worker}, yield(process)] }

      # Both processes take memory, so theirs is added up.
      def memory(kind)
        @processes.group_by { |process| {worker: process.worker} }.transform_values do |all|
          bytes = all.filter_map { |process| process.memory[kind] }
          bytes.sum if bytes.any?
        end
      end

      def from_gauges(name, type, help, key, conversion = :itself.to_proc)
        family(name, type, help, each { |process| process.gauges[key]&.then(&conversion) })
      end

      def threads
        samples = @processes.flat_map do |process|
          STATES.map do |state|
            [{worker: process.worker, state: state.to_s}, time_ns(process, state)&.fdiv(Units::NS_PER_S)]
          end
        end
        family("thread_time_seconds_total", "counter",
          "What the pool threads of a worker spent their time on, idle included.", samples.to_h)
      end

      def time_ns(process, state)
        sums = process.threads_sums.map { |sums_ns| sums_ns[Probe::Parts::SUMS.index(state)] }
        sums.sum unless sums.empty? || sums.include?(nil)
      end
    end
  end
end
