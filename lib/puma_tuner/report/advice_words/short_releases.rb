# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::ShortReleases says.
      SHORT_RELEASES = {
        tiny_releases: ->(count:) {
          "A mean request lets go of the GVL #{count.round} times for calls that come back at once"
        },
        threads_for_releases: ->(count:) {
          "Fewer threads: a mean request lets go of the GVL #{count.round} times for calls that come back at once"
        },
        releases_of_kind: ->(part:, count:) {
          "#{count.round(1)} of a mean request's waits of the kind #{part} are shorter than 50 µs: after each, it " \
            "waits for its turn again."
        },
        calls_saved: ->(part:, throughput_ratio:, p99_ratio:) {
          "Without those of the kind #{part}: #{AdviceWords.ratios(throughput_ratio, p99_ratio)}."
        },
        with_fewer_threads: ->(threads_count:, throughput_ratio:, p99_ratio:) {
          "With #{Units.counted(threads_count, "thread")} in each worker: " \
            "#{AdviceWords.ratios(throughput_ratio, p99_ratio)}."
        },
        save_calls: ->(part:) {
          {"file" => "keep small files that don't change in memory, and buffer the lines of a log",
           "other" => "buffer what is written, such as a log's lines on standard output"}
            .fetch(part, "ask for several things at a time, or keep answers in a cache")
        },
        fewer_threads: ->(threads_count:) { "#{Units.counted(threads_count, "thread")} in each worker" },
        work_or_cache: ->(part:) {
          lines = "of buffered lines, the last ones where a process is killed"
          taken = {"file" => "memory for files that are kept; #{lines}", "other" => lines}
          "work on the code; #{taken.fetch(part, "of a cache, its memory, and answers that are not of now")}"
        },
        fewer_under_way: "fewer requests under way, should they wait for longer than they did when it was recorded",
        calls_as_before: ->(part:) {
          {"file" => "files read, and lines written, as before", "other" => "lines written one by one"}
            .fetch(part, "the code as it was")
        },
        threads_back: ->(threads_count:) { "#{Units.counted(threads_count, "thread")} again" }
      }.freeze
    end
  end
end
