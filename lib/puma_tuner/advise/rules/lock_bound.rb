# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Remarks that requests wait for each other's locks: a connection pool, a Mutex, a Queue. A forecast for more threads
      # is too good then, because it takes waits as given, and these grow with every thread.
      #
      # Evidence: waits recorded as locks, and which of them were for a connection pool: a larger pool helps these alone. Of other locks
      # the recording does not tell which it was. Effect: none predicted, neither is in the model. Cost: connections, or work on the code.
      # Undo: the old size, or the old log level.
      class LockBound < Rule
        # By Amdahl's law a fifth of a request that only one thread at a time can do caps the gain from any number of
        # threads at five.
        LEAST_LOCK_RATIO = 0.2
        NAMED_MAX = 5
        POOL = {
          change: "raise the size of the pool that the threads wait for (for a database: `pool`, at least the threads of a worker), or hold " \
            "its members for less long",
          cost: "a connection more for each place in the pool, in each worker", undo: "the old pool size"
        }.freeze
        OTHER = {
          change: "hold the lock that they share for less long, or take it less often; the log's is one, which a thread holds while it " \
            "writes a line and waits for the GVL afterwards (fewer lines, in Rails by `config.log_level`, show whether it is that " \
            "one); or fewer threads in each of more workers, as processes share no such lock",
          cost: "work on the code, or what the log no longer tells", undo: "the code or the log level as it was"
        }.freeze

        def call(workload, sweep)
          bound = workload.endpoints.select { |endpoint| lock_ratio(endpoint) >= LEAST_LOCK_RATIO }
          return [] if bound.empty? && workload.lock_ratio < LEAST_LOCK_RATIO
          pool_ratio = pool_ratio(workload)
          [remark(title: "Requests wait for locks, and more threads make it worse", evidence: evidence(workload, bound, pool_ratio),
            **((pool_ratio < 0.5) ? OTHER : POOL))]
        end

        private

        def lock_ratio(endpoint)
          total_ns = endpoint.mean_cpu_ns + endpoint.mean_wait_ns
          total_ns.zero? ? 0.0 : endpoint.mean_lock_ns.fdiv(total_ns)
        end

        # The share of the waits for locks that were for a connection pool.
        def pool_ratio(workload)
          lock_ns = workload.endpoints.sum { |endpoint| endpoint.weight_ratio * endpoint.mean_lock_ns }
          pool_ns = workload.endpoints.sum { |endpoint| endpoint.weight_ratio * endpoint.demands.sum(&:pool_ns).fdiv(endpoint.demands.size) }
          pool_ns.fdiv(lock_ns).clamp(0.0, 1.0)
        end

        def evidence(workload, bound, pool_ratio)
          of_endpoints = bound.sort_by { |endpoint| -lock_ratio(endpoint) }.first(NAMED_MAX).map do |endpoint|
            "#{endpoint.name} waits for locks for #{Units.percent(lock_ratio(endpoint))} of its time, " \
              "#{Units.duration(endpoint.mean_lock_ns)} of a request (mean of #{endpoint.demands.size} recorded)."
          end
          ["Of all requests together it is #{Units.percent(workload.lock_ratio)}; #{Units.percent(pool_ratio)} of that is for a connection pool.", *of_endpoints,
            *("#{Units.counted(bound.size - NAMED_MAX, "endpoint")} more." if bound.size > NAMED_MAX)].rotate.freeze
        end
      end
    end
  end
end
