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
        profile_allocations: "look with a profiler at what allocates in the endpoints named; then at Ruby's GC " \
          "settings (RUBY_GC_*)",
        work_or_gc_settings: "work on the code; GC settings trade memory for time",
        gc_variables: "the RUBY_GC_* variables as they were"
      }.freeze
    end
  end
end
