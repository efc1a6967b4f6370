# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Remarks that an endpoint keeps the GVL for so long at a stretch that the worker's other threads stand still.
      #
      # Evidence: the bursts of recorded requests. Effect: none predicted; it is the other requests' tail that gains, and
      # that depends on who is beside whom. Cost: the long requests take longer. Undo: the variable removed.
      class LongBursts < Rule
        # Half a time slice of Ruby's default 100 ms. A thread back from its IO waits for the rest of such a burst, up to
        # the whole slice, at every return: next to one computing thread a cycle of 1.2 ms was measured to take 101 ms.
        LONG_BURST_NS = 50_000_000

        # A judgement: rarer than one request in a hundred, they do not reach the p99.
        LEAST_LONG_RATIO = 0.01

        # The first Ruby that reads the variable; milliseconds that it has without it, and that are advised.
        TIMESLICE_RUBY_VERSION = Gem::Version.new("3.4")
        DEFAULT_TIMESLICE_MS = 100
        SHORT_TIMESLICE_MS = 10

        def call(workload, sweep)
          slow = workload.endpoints.select { |endpoint| long_count(endpoint) >= endpoint.demands.size * LEAST_LONG_RATIO }
          return [] if slow.empty?
          [remark(title: "Long computations make other requests of the same worker wait", evidence: evidence(slow, sweep),
            **remedy(workload))]
        end

        private

        def long_count(endpoint)
          endpoint.demands.count { |demand| demand.bursts_ns.max >= LONG_BURST_NS }
        end

        def longest_ns(endpoint) = endpoint.demands.map { |demand| demand.bursts_ns.max }.max

        def evidence(slow, sweep)
          [
            *slow.map { |endpoint|
              "#{endpoint.name}: #{long_count(endpoint)} of #{endpoint.demands.size} recorded requests keep the GVL for " \
                "#{Units.duration(LONG_BURST_NS)} or more at a stretch, #{Units.duration(longest_ns(endpoint))} at the longest."
            },
            "With more than one thread (today #{sweep.today.threads_count}), a request back from its IO waits until the burst " \
              "or the time slice is over, each time."
          ].freeze
        end

        def remedy(workload)
          timeslice_ms = workload.timeslice_ms || DEFAULT_TIMESLICE_MS
          if Gem::Version.new(workload.ruby_version.to_s) >= TIMESLICE_RUBY_VERSION && timeslice_ms > SHORT_TIMESLICE_MS
            {change: "RUBY_THREAD_TIMESLICE=#{SHORT_TIMESLICE_MS} in the environment of Puma; or the long work in a background job",
             cost: "requests with long bursts take longer, as the others no longer wait for them",
             undo: (timeslice_ms == DEFAULT_TIMESLICE_MS) ? "unset RUBY_THREAD_TIMESLICE" : "RUBY_THREAD_TIMESLICE=#{timeslice_ms}"}
          else
            {change: "the long work in a background job; or more workers with fewer threads",
             cost: "a job queue; or memory for the workers", undo: "the work back in the request; or the old topology"}
          end
        end
      end
    end
  end
end
