# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
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
        pool_for_all_threads: ->(threads_count:, active_record:) {
          background = ", and one more for each background thread that queries" if active_record
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
