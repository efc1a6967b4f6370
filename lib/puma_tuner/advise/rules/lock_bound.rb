# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Remarks that requests wait for each other's locks: a connection pool, a Mutex, a Queue. A forecast for more
      # threads is too good then, because it takes waits as given, and these grow with every thread.
      #
      # Evidence: waits recorded as locks, and which of them were for a connection pool: a larger pool helps these
      # alone. Of other locks the recording does not tell which it was. Effect: none predicted, neither is in the model.
      # Cost: connections, or work on the code. Undo: the old size, or the old log level.
      class LockBound < Rule
        PRIORITY = 80

        # By Amdahl's law a fifth of a request that only one thread at a time can do caps the gain from any number of
        # threads at five.
        LEAST_LOCK_RATIO = 0.2
        NAMED_MAX = 5

        def call
          bound = workload.endpoints.select { |endpoint| lock_ratio(endpoint) >= LEAST_LOCK_RATIO }
          return [] if bound.empty? && workload.lock_ratio < LEAST_LOCK_RATIO
          pool_ratio = pool_ratio()
          [remark(title: say(:waits_for_locks), evidence: evidence(bound, pool_ratio),
            **((pool_ratio < 0.5) ? other_lock : pool))]
        end

        private

        def pool = {change: say(:larger_pool), cost: say(:connections), undo: say(:pool_size)}

        def other_lock = {change: say(:lock_less), cost: say(:work_or_less_log), undo: say(:code_or_log_level)}

        def lock_ratio(endpoint)
          total_ns = endpoint.mean_held_ns + endpoint.mean_wait_ns
          total_ns.zero? ? 0.0 : endpoint.mean_lock_ns.fdiv(total_ns)
        end

        # The share of the waits for locks that were for a connection pool.
        def pool_ratio
          lock_ns = workload.endpoints.sum { |endpoint| endpoint.weight_ratio * endpoint.mean_lock_ns }
          pool_ns = workload.endpoints.sum do |endpoint|
            endpoint.weight_ratio * endpoint.demands.sum(&:pool_ns).fdiv(endpoint.demands.size)
          end
          pool_ns.fdiv(lock_ns).clamp(0.0, 1.0)
        end

        def evidence(bound, pool_ratio)
          of_endpoints = bound.sort_by { |endpoint| -lock_ratio(endpoint) }.first(NAMED_MAX).map do |endpoint|
            say(:lock_of_endpoint, endpoint: endpoint.name, ratio: lock_ratio(endpoint), lock_ns: endpoint.mean_lock_ns,
              requests_count: endpoint.demands.size)
          end
          more_count = bound.size - NAMED_MAX
          [*of_endpoints, *(say(:more_endpoints, endpoints_count: more_count) if more_count.positive?),
            say(:lock_of_all, ratio: workload.lock_ratio, pool_ratio:)].freeze
        end
      end
    end
  end
end
