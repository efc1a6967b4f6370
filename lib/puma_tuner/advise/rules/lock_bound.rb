# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Remarks that requests wait for each other's locks: a connection pool, a Mutex, a Queue. A forecast for more threads
      # is too good then, because it takes waits as given, and these grow with every thread.
      #
      # Evidence: waits recorded as locks. Effect: none predicted, the pool's size is not in the model. Cost: connections.
      # Undo: the old size.
      class LockBound < Rule
        # By Amdahl's law a fifth of a request that only one thread at a time can do caps the gain from any number of
        # threads at five.
        LEAST_LOCK_RATIO = 0.2

        def call(workload, sweep)
          bound = workload.endpoints.select { |endpoint| lock_ratio(endpoint) >= LEAST_LOCK_RATIO }
          return [] if bound.empty? && workload.lock_ratio < LEAST_LOCK_RATIO
          [remark(title: "Requests wait for locks, and more threads make it worse", evidence: evidence(workload, bound),
            change: "raise the size of the pool that the threads wait for (for a database: `pool`, at least the threads of a " \
              "worker), or hold its members for less long",
            cost: "a connection more for each place in the pool, in each worker", undo: "the old pool size")]
        end

        private

        def lock_ratio(endpoint)
          total_ns = endpoint.mean_cpu_ns + endpoint.mean_wait_ns
          total_ns.zero? ? 0.0 : endpoint.mean_lock_ns.fdiv(total_ns)
        end

        def evidence(workload, bound)
          of_endpoints = bound.sort_by { |endpoint| -lock_ratio(endpoint) }.map do |endpoint|
            "#{endpoint.name} waits for locks for #{Units.percent(lock_ratio(endpoint))} of its time, " \
              "#{Units.duration(endpoint.mean_lock_ns)} of a request (mean of #{endpoint.demands.size} recorded)."
          end
          ["Of all requests together it is #{Units.percent(workload.lock_ratio)}.", *of_endpoints].rotate.freeze
        end

        register :lock_bound, self
      end
    end
  end
end
