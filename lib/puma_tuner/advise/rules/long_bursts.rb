# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Remarks that an endpoint keeps the GVL for so long at a stretch that the worker's other threads stand still.
      #
      # Evidence: the bursts of recorded requests. Effect: forecast with the shorter time slice; it is the other
      # requests' tail that gains. Cost: the long requests take longer. Undo: the variable removed.
      class LongBursts < Rule
        PRIORITY = 60

        # Half a time slice of Ruby's default 100 ms. A thread back from its IO waits
        # for the rest of such a burst, up to the whole slice, at every return: next
        # to one computing thread a cycle of 1.2 ms was measured to take 101 ms.
        LONG_BURST_NS = 50_000_000

        # A judgement: rarer than one request in a hundred, they do not reach the p99.
        LEAST_LONG_RATIO = 0.01

        # The first Ruby that reads the variable; milliseconds that it has without it, and that are advised.
        TIMESLICE_RUBY_VERSION = Gem::Version.new("3.4")
        DEFAULT_TIMESLICE_MS = 100
        SHORT_TIMESLICE_MS = 10

        def call
          slow = workload.endpoints.select do |endpoint|
            long_count(endpoint) >= endpoint.demands.size * LEAST_LONG_RATIO
          end
          return [] if slow.empty? || sweep.today.threads_count == 1
          [advice(title: say(:long_bursts), evidence: evidence(slow), **remedy)]
        end

        # They bring nothing where all bursts are long, which then take turns and all end late; and long requests may be
        # so many that it is these that make the p99.
        #
        # @return [Boolean] whether shorter time slices are to be advised
        def short_slices?
          return shorter? && !@situation.overloads?(timeslice_ms: SHORT_TIMESLICE_MS) unless effect
          !effect.longer_tail? && [effect.p50_ratio, effect.p99_ratio].any? { |ratio| ratio.value < 1 }
        end

        private

        def long_count(endpoint)
          endpoint.demands.count { |demand| demand.bursts_ns.max >= LONG_BURST_NS }
        end

        def longest_ns(endpoint) = endpoint.demands.map { |demand| demand.bursts_ns.max }.max

        def evidence(slow)
          of_endpoints = slow.map do |endpoint|
            say(:bursts_of_endpoint, endpoint: endpoint.name, long_count: long_count(endpoint),
              requests_count: endpoint.demands.size, long_ns: LONG_BURST_NS, longest_ns: longest_ns(endpoint))
          end
          if effect && !short_slices?
            worse = say(:slices_are_worse, timeslice_ms: SHORT_TIMESLICE_MS, p50_ratio: effect.p50_ratio,
              p99_ratio: effect.p99_ratio)
          end
          [*of_endpoints, say(:others_wait, threads_count: sweep.today.threads_count), worse]
        end

        def effect = (@situation.effect(timeslice_ms: SHORT_TIMESLICE_MS) if shorter?)

        # Whether there is a shorter slice to be had.
        def shorter? = @situation.ruby_version >= TIMESLICE_RUBY_VERSION && timeslice_ms > SHORT_TIMESLICE_MS

        def timeslice_ms = workload.timeslice_ms || DEFAULT_TIMESLICE_MS

        def remedy
          return {change: say(:job_or_workers), cost: say(:job_or_memory), undo: say(:work_back)} unless short_slices?
          {change: say(:short_timeslice, timeslice_ms: SHORT_TIMESLICE_MS), cost: say(:longer_bursts), effect:,
           undo: say(:timeslice, timeslice_ms: (timeslice_ms unless timeslice_ms == DEFAULT_TIMESLICE_MS)),
           lines: {ENVIRONMENT => "RUBY_THREAD_TIMESLICE=#{SHORT_TIMESLICE_MS}"},
           factors: {"env.RUBY_THREAD_TIMESLICE" => SHORT_TIMESLICE_MS.to_s}}
        end
      end
    end
  end
end
