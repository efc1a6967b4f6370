# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::LongBursts says.
      LONG_BURSTS = {
        long_bursts: "Long computations make other requests of the same worker wait",
        bursts_of_endpoint: ->(endpoint:, long_count:, requests_count:, long_ns:, longest_ns:) {
          "#{endpoint}: #{long_count} of #{requests_count} recorded requests keep the GVL for " \
            "#{Units.duration(long_ns)} or more at a stretch, #{Units.duration(longest_ns)} at the longest."
        },
        others_wait: ->(threads_count:) {
          "With more than one thread (today #{threads_count}), a request back from " \
            "its IO waits until the burst or the time slice is over, each time."
        },
        slices_are_worse: ->(timeslice_ms:, p50_ratio:, p99_ratio:) {
          told = {"p50" => p50_ratio, "p99" => p99_ratio}.map { |name, ratio| format("%.2fx %s", ratio.first, name) }
          "A time slice of #{timeslice_ms} ms is predicted to bring #{told.join(" and ")}, and is not advised."
        },
        short_timeslice: ->(timeslice_ms:) {
          "RUBY_THREAD_TIMESLICE=#{timeslice_ms} in the environment of Puma; or " \
            "the long work in a background job"
        },
        longer_bursts: "requests with long bursts take longer, as the others no longer wait for them",
        timeslice: ->(timeslice_ms:) {
          timeslice_ms ? "RUBY_THREAD_TIMESLICE=#{timeslice_ms}" : "unset RUBY_THREAD_TIMESLICE"
        },
        job_or_workers: "the long work in a background job; or more workers with fewer threads",
        job_or_memory: "a job queue; or memory for the workers",
        work_back: "the work back in the request; or the old topology"
      }.freeze
    end
  end
end
