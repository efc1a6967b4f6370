# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
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
    end
  end
end
