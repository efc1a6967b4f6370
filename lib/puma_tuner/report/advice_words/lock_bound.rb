# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::LockBound says.
      LOCK_BOUND = {
        waits_for_locks: "Requests wait for locks, and more threads make it worse",
        lock_of_endpoint: ->(endpoint:, ratio:, lock_ns:, requests_count:) {
          "#{endpoint} waits for locks for #{Units.percent(ratio)} of its time, #{Units.duration(lock_ns)} of a " \
            "request (mean of #{requests_count} recorded)."
        },
        more_endpoints: ->(endpoints_count:) { "#{Units.counted(endpoints_count, "endpoint")} more." },
        lock_of_all: ->(ratio:, pool_ratio:) {
          "Of all requests together it is #{Units.percent(ratio)}; " \
            "#{Units.percent(pool_ratio)} of that is for a connection pool."
        },
        larger_pool: "raise the size of the pool that the threads wait for (for a database: `pool`, at least the " \
          "threads of a worker), or hold its members for less long",
        connections: "a connection more for each place in the pool, in each worker",
        pool_size: "the old pool size",
        lock_less: "hold the lock that they share for less long, or take it less often; the log's is one, which a " \
          "thread holds while it writes a line and waits for the GVL " \
          "afterwards (fewer lines, in Rails by `config.log_level`, show whether it is that one); or fewer threads " \
          "in each of more workers, as processes share no such lock",
        work_or_less_log: "work on the code, or what the log no longer tells",
        code_or_log_level: "the code or the log level as it was"
      }.freeze
    end
  end
end
