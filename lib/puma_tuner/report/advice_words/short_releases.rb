# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::ShortReleases says.
      SHORT_RELEASES = {
        tiny_releases: ->(count:) {
          "A mean request lets go of the GVL #{count.round} times for calls that come back at once"
        },
        releases_of_kind: ->(part:, count:) {
          "#{count.round(1)} of a mean request's waits of the kind #{part} are shorter than 50 µs: after each, it " \
            "waits for its turn again."
        },
        calls_saved: ->(part:, throughput_ratio:, p99_ratio:) {
          "Without those of the kind #{part} (buffered writes, a cache): " \
            "#{AdviceWords.ratios(throughput_ratio, p99_ratio)}."
        },
        with_fewer_threads: ->(threads_count:, throughput_ratio:, p99_ratio:) {
          "With #{Units.counted(threads_count, "thread")} in each worker: " \
            "#{AdviceWords.ratios(throughput_ratio, p99_ratio)}."
        },
        save_calls: ->(kind:, fewer:) {
          cures = ["buffer what is logged, and keep small files that don't change in memory",
            ("fewer threads" if fewer)]
          cures.compact.join("; or ")
        },
        work_or_cache: "work on the code; of buffered lines, the last ones where a process is killed",
        calls_as_before: "the code, or the threads, as they were"
      }.freeze
    end
  end
end
