# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::BackgroundThreads says.
      BACKGROUND_THREADS = {
        thread_takes_gvl: ->(thread:) { "The thread #{thread} takes the GVL from requests" },
        core_of_thread: ->(thread:, ratio:, burst_ns:) {
          "#{thread} has the GVL of its process for #{Units.percent(ratio)} of the time, " \
            "#{Units.duration(burst_ns)} at a stretch in the mean."
        },
        blame_of_thread: ->(thread:, ratio:) {
          "#{Units.percent(ratio)} of what requests waited for the GVL was its doing."
        },
        other_process: ->(known:) {
          case known
          when "solid_queue"
            "Solid Queue's jobs in processes of their own: `bin/jobs`, or the mode :fork of Puma's plugin instead of " \
              ":async"
          when "cable" then "cables in a server of their own (a Puma with `ActionCable.server`, or AnyCable)"
          when "jobs" then "jobs in a process of their own, and none in Puma"
          else "its work in a process of its own, or less often"
          end
        },
        process_of_its_own: "a process more, with its memory",
        thread_back: "the thread back in Puma"
      }.freeze

      # What Advise::Rules::IoBound says.
      IO_BOUND = {
        mark_io_bound: ->(endpoints:) { "Mark #{Figures.list(endpoints)} as I/O-bound" },
        deserves_mark: ->(endpoint:, ratio:, wait_ns:) {
          "#{endpoint} needs the GVL for #{Units.percent(ratio)} of its time and waits " \
            "for #{Units.duration(wait_ns)}: it deserves `puma.mark_as_io_bound`."
        },
        deserves_none: ->(endpoint:, ratio:, wait_ns:) {
          "#{endpoint} needs the GVL for #{Units.percent(ratio)} of its time: marked, it would only take it from " \
            "others."
        },
        leaky_puma: "Up to 8.0.2 Puma forgets to count threads that end as I/O threads, until the pool serves " \
          "nothing (puma/puma#3958).",
        mark_in_app: ->(leaky:) {
          "the lines below#{", with the first release after Puma 8.0.2; until then, more threads" if leaky}"
        },
        io_threads_cost: ->(threads_count:, workers_count:) {
          "up to #{Units.counted(threads_count, "thread")} more in each of " \
            "#{Units.counted(workers_count, "worker")}, with their memory and their connections"
        },
        no_io_threads: "max_io_threads 0"
      }.freeze

      # What Advise::Rules::LockBound says.
      LOCK_BOUND = {
        waits_for_locks: "Requests wait for locks, and more threads make it worse",
        lock_of_endpoint: ->(endpoint:, ratio:, lock_ns:) {
          "#{endpoint} waits for locks for #{Units.percent(ratio)} of its time, #{Units.duration(lock_ns)} of a mean " \
            "request."
        },
        more_endpoints: ->(endpoints_count:) { "#{Units.counted(endpoints_count, "endpoint")} more." },
        lock_of_all: ->(ratio:) { "Of all requests together it is #{Units.percent(ratio)}." },
        lock_named: ->(lock:, place:, holds_count:, hold_ns:, waits_count:) {
          "Most of it for the #{lock} that is taken at #{place}: held #{holds_count} times, for " \
            "#{Units.duration(hold_ns)} in the mean, and waited for #{waits_count} times."
        },
        without_that_lock: "The prediction is of that lock gone, which is the most there is to gain.",
        lock_less: "hold the lock that they share for less long, or take it less often; or fewer threads in each of " \
          "more workers, as processes share no such lock",
        log_less: "fewer lines (in Rails by `config.log_level`), or a log that is written by a thread of its own: " \
          "the logger's lock is held while a line is written and, after that, while its thread waits for the GVL",
        work_or_less_log: "work on the code, or what the log no longer tells",
        code_or_log_level: "the code or the log level as it was"
      }.freeze

      # What Advise::Rules::LongBursts says.
      LONG_BURSTS = {
        long_bursts: "Long computations make other requests of the same worker wait",
        bursts_of_endpoint: ->(endpoint:, long_count:, requests_count:, long_ns:, longest_ns:) {
          "#{endpoint}: #{long_count} of #{requests_count} recorded requests keep the GVL for " \
            "#{Units.duration(long_ns)} or more at a stretch, #{Units.duration(longest_ns)} at the longest."
        },
        others_wait: ->(threads_count:) {
          "With more than one thread (today #{threads_count}), a request back from its IO waits until the burst or " \
            "the time slice is over, each time."
        },
        slices_are_worse: ->(timeslice_ms:, p50_ratio:, p99_ratio:) {
          told = {"p50" => p50_ratio, "p99" => p99_ratio}.map { |name, ratio| format("%.2fx %s", ratio.first, name) }
          "A time slice of #{timeslice_ms} ms is predicted to bring #{told.join(" and ")}, and is not advised."
        },
        short_timeslice: ->(timeslice_ms:) {
          "RUBY_THREAD_TIMESLICE=#{timeslice_ms} in the environment of Puma; or the long work in a background job"
        },
        longer_bursts: "requests with long bursts take longer, as the others no longer wait for them",
        timeslice: ->(timeslice_ms:) {
          timeslice_ms ? "RUBY_THREAD_TIMESLICE=#{timeslice_ms}" : "unset RUBY_THREAD_TIMESLICE"
        },
        job_or_workers: "the long work in a background job; or more workers with fewer threads",
        job_or_memory: "a job queue; or memory for the workers",
        work_back: "the work back in the request; or the old topology"
      }.freeze

      # What Advise::Rules::Queries says.
      QUERIES = {
        queries_first: ->(endpoint:, count:) {
          "#{endpoint} asks the database #{count.round} times: fewer queries before more threads"
        },
        many_queries: ->(endpoint:, count:) { "#{endpoint} asks the database #{count.round} times" },
        db_of_endpoint: ->(endpoint:, count:, db_ns:, ratio:, requests_count:) {
          "#{endpoint} waits for the database for #{Units.duration(db_ns)}, #{Units.percent(ratio)} of its time, in " \
            "#{count.round(1)} round trips (mean of #{requests_count} recorded requests)."
        },
        queries_of_name: ->(endpoint:, name:, count:) {
          "A mean request of #{endpoint} makes the query \"#{name}\" #{count.round(1)} times."
        },
        threads_needed: ->(today_count:, tuned_count:) {
          "By the forecasts #{Units.counted(today_count, "thread")} in each worker are enough today, and " \
            "#{tuned_count} once two queries do#{": who waits less needs fewer threads" if tuned_count < today_count}."
        },
        one_query: ->(rails:) {
          "one query in the place of many alike" \
            "#{" (`includes` or `preload`; `strict_loading` shows where)" if rails}, or an index; then tune again"
        },
        work_on_queries: "work on the code",
        queries_back: "the code as it was"
      }.freeze

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

      # What Advise::Rules::SpoilingEndpoint says.
      SPOILING_ENDPOINT = {
        spoils_others: ->(endpoint:) { "#{endpoint} makes the others wait" },
        others_wait_for_gvl: ->(wait_ns:, requests_count:, ratio:, endpoint:) {
          "The other requests (#{requests_count}) waited for the GVL for #{Units.duration(wait_ns)} in the mean; for " \
            "#{Units.percent(ratio)} of that it was #{endpoint} that held it."
        },
        spoilers_share: ->(endpoint:, ratio:, cpu_ns:) {
          "#{endpoint} is #{Units.percent(ratio)} of the requests, and takes #{Units.duration(cpu_ns)} of CPU each " \
            "time."
        },
        gvl_wait_without: ->(endpoint:, wait_ns:) {
          "Without #{endpoint} a mean request is predicted to wait for the GVL for #{AdviceWords.duration(wait_ns)}."
        },
        move_endpoint: ->(endpoint:, short_slices: false) {
          "send #{endpoint} to servers of its own (by its path, in the proxy), or do its work in a background job" \
            "#{"; a shorter time slice helps the others while it stays" if short_slices}"
        },
        own_group: "a group of servers, or a job queue",
        route_back: "the old route"
      }.freeze

      # What Advise::Rules::StarvedPool says.
      STARVED_POOL = {
        pool_starves: "Requests wait for a connection of their pool, and more threads make it worse",
        pool_waits: ->(ratio:) { "Waits for a connection take #{Units.percent(ratio)} of the requests' time." },
        pool_of_size: ->(pool:, place:, size:, threads_count:, waits_count:, holds_count:) {
          "#{pool} (#{place}) has #{Units.counted(size, "place")} for #{Units.counted(threads_count, "thread")} of a " \
            "worker: #{waits_count} of #{holds_count} checkouts had to wait."
        },
        threads_would_wait: "Each thread more would wait for the same connections; by its waits alone the app looks " \
          "as if it did IO.",
        pool_for_all_threads: ->(threads_count:, active_record:, others_count: 0) {
          background = ", and one more for each background thread that queries" if active_record
          background = ", with #{others_count} of jobs and the like that were seen to query" if others_count.positive?
          "#{Units.counted(threads_count, "place")} in the pool, one for each thread of a worker#{background}; or " \
            "hold a connection for less long"
        },
        pool_of_allowed: ->(places_count:, threads_count:) {
          "#{Units.counted(places_count, "place")} in the pool, as many as the database's limit leaves for each " \
            "worker; as that is less than its #{Units.counted(threads_count, "thread")}, fewer threads or workers, " \
            "or connections that are held for less long"
        },
        pool_taken: "the pool has a place for each thread, so find who else has connections: background threads, or " \
          "requests that hold several at a time; then a place for each of these",
        connections_of_all: ->(connections_count:, today_count:) {
          "#{Units.counted(connections_count, "connection")} of all workers together" \
            "#{", today #{today_count}" if today_count}; the database must take so many"
        },
        old_pool_size: ->(size:) { size ? "#{Units.counted(size, "place")} again" : "the old size" }
      }.freeze
    end
  end
end
