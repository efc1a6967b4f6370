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
        without_any_gc: "The prediction is of no garbage collection at all, which is the most there is to gain.",
        profile_allocations: ->(one_thread:) {
          "look at what allocates in the endpoints named (`puma_tuner profile --with " \
            "memory_profiler`); then measure Ruby's settings (`puma_tuner tradeoff gc`)" \
            "#{"; with one thread, full collections may wait until the worker is idle" if one_thread}"
        },
        work_or_gc_settings: "work on the code; GC settings trade memory for time",
        gc_variables: "the RUBY_GC_* variables as they were"
      }.freeze
    end
  end
end
