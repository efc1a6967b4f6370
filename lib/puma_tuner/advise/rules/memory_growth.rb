# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Copy-on-write: what workers share after the fork they write to in time, and then each has its own. Workers that
      # fit today may not fit in a week.
      #
      # Evidence: PSS, in which shared memory is divided, and RSS, in which each has all of it. Threshold: today's PSS
      # is within the limit, and RSS of all processes together is not. That is the most that sharing can hide; what the
      # app keeps on allocating comes on top. Effect: none, it comes with time. Cost: a worker less. Undo: the worker
      # back.
      class MemoryGrowth < Rule
        PRIORITY = 35

        def call
          limit_bytes = @constraints.max_memory_bytes
          return [] unless limit_bytes && @situation.cluster? && all_known?
          return [] unless total(:pss_bytes) <= limit_bytes && total(:rss_bytes) > limit_bytes
          fitting_count = @situation.topology.workers_count
          fitting_count -= 1 while fitting_count > 1 && unshared_bytes(fitting_count) > limit_bytes
          [remark(title: say(:sharing_ends), evidence: [say(:shared_today, pss_bytes: total(:pss_bytes),
            rss_bytes: total(:rss_bytes), limit_bytes:)], change: say(:workers_unshared, workers_count: fitting_count),
            lines: {PUMA_RB => "workers #{fitting_count}"}, factors: {"workers" => fitting_count.to_s},
            cost: say(:requests_less), undo: say(:workers_again, workers_count: @situation.topology.workers_count))]
        end

        private

        def processes = observation.processes

        def all_known? = processes.all? { |process| process.pss_bytes && process.rss_bytes }

        def total(name) = processes.sum(&name)

        # The master and so many workers, had they nothing in common.
        def unshared_bytes(workers_count)
          workers, others = processes.partition { |process| process.role == "worker" }
          others.sum(&:rss_bytes) + workers_count * workers.sum(&:rss_bytes) / workers.size
        end
      end
    end
  end
end
