# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Remarks that much of the CPU time goes into collecting garbage, which also stops every thread of its worker.
      #
      # Evidence: GC timed inside recorded requests. Effect: none predicted, it depends on what is found. Cost: work on
      # the code, or memory. Undo: the old values of whatever variable was set.
      class Gc < Rule
        PRIORITY = 40

        # Without any GC at all, throughput bound by CPU would rise by a ninth. Below that there is little to win.
        LEAST_GC_RATIO = 0.1

        def call
          gc_ratio = timed_gc_ratio
          return [] if gc_ratio.nil? || gc_ratio < LEAST_GC_RATIO
          [remark(title: say(:gc_share, ratio: gc_ratio), evidence: evidence(gc_ratio),
            change: say(:profile_allocations), cost: say(:work_or_gc_settings), undo: say(:gc_variables))]
        end

        private

        # Of the GC that was timed; an endpoint without timing would only dilute it.
        def timed_gc_ratio
          timed = timed_endpoints
          held_ns = timed.sum { |endpoint| endpoint.weight_ratio * endpoint.mean_held_ns }
          timed.sum { |endpoint| endpoint.weight_ratio * endpoint.mean_gc_ns } / held_ns if held_ns.positive?
        end

        def timed_endpoints = workload.endpoints.select(&:mean_gc_ns)

        def evidence(gc_ratio)
          heaviest = timed_endpoints.max_by { |endpoint| endpoint.weight_ratio * endpoint.mean_gc_ns }
          [say(:gc_of_cpu, ratio: gc_ratio),
            say(:most_gc, endpoint: heaviest.name, gc_ns: heaviest.mean_gc_ns, cpu_ns: heaviest.mean_held_ns,
              requests_count: heaviest.demands.size)].freeze
        end
      end
    end
  end
end
