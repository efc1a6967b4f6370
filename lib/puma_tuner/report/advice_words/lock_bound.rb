# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
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
    end
  end
end
