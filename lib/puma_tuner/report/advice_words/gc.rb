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
    end
  end
end
