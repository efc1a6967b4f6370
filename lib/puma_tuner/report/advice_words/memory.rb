# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::Gc says.
      GC = {
        gc_share: ->(ratio:) { "GC takes #{Units.percent(ratio)} of the CPU time" },
        gc_of_cpu: ->(ratio:) { "GC runs for #{Units.percent(ratio)} of the CPU time that requests use." },
        most_gc: ->(endpoint:, gc_ns:, cpu_ns:, requests_count:) {
          "Most of it in #{endpoint}: #{Units.duration(gc_ns)} of #{Units.duration(cpu_ns)} of CPU time (mean of " \
            "#{requests_count} recorded requests)."
        },
        most_without_gc: ->(throughput_ratio:, p99_ratio:) {
          "Without any garbage collection, which is the most that could be gained: " \
            "#{AdviceWords.ratios(throughput_ratio, p99_ratio)}."
        },
        profile_allocations: ->(one_thread:, warmup: false) {
          "look at what allocates in the endpoints named (`puma_tuner profile --with " \
            "memory_profiler`); then measure Ruby's settings (`puma_tuner tradeoff gc`)" \
            "#{" and the lines below" if warmup}" \
            "#{"; with one thread, full collections may wait until the worker is idle" if one_thread}" \
            "#{": where it never is, memory grows without them" if one_thread && warmup}"
        },
        work_or_gc_settings: "work on the code; GC settings trade memory for time",
        warmup_gone: "the lines gone, and a restart",
        gc_variables: "the RUBY_GC_* variables as they were"
      }.freeze

      # What Advise::Rules::Malloc says.
      MALLOC = {
        arenas: "Memory is what limits the workers, and the C library's allocator keeps much of it",
        near_limit: ->(used_bytes:, limit_bytes:, threads_count:) {
          "The processes take #{Units.mebibytes(used_bytes)} of #{Units.mebibytes(limit_bytes)}; with " \
            "#{Units.counted(threads_count, "thread")} each has several arenas."
        },
        fewer_arenas: "two arenas, or jemalloc (`LD_PRELOAD=libjemalloc.so.2`): `puma_tuner tradeoff malloc` " \
          "measures both with your app",
        waits_for_arenas: "threads wait for the same arenas; with jemalloc, a library to install",
        arenas_back: "unset MALLOC_ARENA_MAX"
      }.freeze

      # What Advise::Rules::MemoryGrowth says.
      MEMORY_GROWTH = {
        sharing_ends: "Workers fit into the memory only while they share it",
        shared_today: ->(pss_bytes:, rss_bytes:, limit_bytes:) {
          "All processes together take #{Units.mebibytes(pss_bytes)} (PSS) of #{Units.mebibytes(limit_bytes)}; with " \
            "nothing shared it would be #{Units.mebibytes(rss_bytes)} (RSS), and each page that a worker writes to " \
            "is shared no more."
        },
        workers_unshared: ->(workers_count:) {
          fewer = (workers_count == 1) ? "a single process, which fits" : "#{workers_count} workers, which fit"
          "#{fewer} without sharing; or watch the PSS over days before more"
        },
        none_unshared: ->(unshared_bytes:) {
          "more memory, or an app that takes less of it: not even a single process fits without sharing " \
            "(#{Units.mebibytes(unshared_bytes)}); or watch the PSS over days"
        },
        memory_or_work: "memory, or work on the code",
        requests_less: "fewer requests at a time",
        workers_again: ->(workers_count:) { Units.counted(workers_count, "worker") }
      }.freeze

      # What Advise::Rules::Preload says.
      PRELOAD = {
        not_preloaded: "Each worker loads the app by itself, and shares none of its memory",
        own_memory: ->(pss_bytes:, workers_count:) {
          "Puma's preload_app is off; each of #{workers_count} workers has #{Units.mebibytes(pss_bytes)} of its own " \
            "(mean PSS)."
        },
        preload: "load the app once, before workers are forked",
        fork_order: ->(active_record:) {
          "no phased restart; threads, sockets and files that the app opens while it is loaded must be opened again " \
            "in each worker#{" (Active Record's connections are, by itself)" if active_record}"
        },
        preload_off: "preload_app! false"
      }.freeze

      # What Advise::Rules::YjitMemory says.
      YJIT_MEMORY = {
        yjit_full: ->(ratio:) { "YJIT has used #{Units.percent(ratio)} of its memory, and soon compiles nothing more" },
        yjit_counted: ->(used_bytes:, limit_bytes:, processes_count:) {
          "#{Units.mebibytes(used_bytes)} of #{Units.mebibytes(limit_bytes)} in the fullest of " \
            "#{Units.counted(processes_count, "process", "processes")}."
        },
        yjit_limit: ->(bytes:) { "a limit of #{Units.mebibytes(bytes)}" },
        yjit_bytes_each: ->(bytes:, workers_count:) {
          "up to #{Units.mebibytes(bytes)} more in each of #{Units.counted(workers_count, "worker")}"
        },
        yjit_old_limit: ->(bytes:) { "RUBYOPT as it was, with the limit of #{Units.mebibytes(bytes)}" }
      }.freeze
    end
  end
end
