# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Copy-on-write: what workers share after the fork they write to in time, and then each has its own. Workers that
      # fit today may not fit in a week.
      #
      # Evidence: PSS, in which shared memory is divided, and RSS, in which each has all of it. Threshold: today's PSS
      # is within the limit, and RSS of all processes together is not. That is the most that sharing can hide; what the
      # app keeps on allocating comes on top. Effect: none, it comes with time. Cost: workers less, the last of which is
      # a single process without a master; where not even that fits nothing is to be set. Undo: the workers back.
      class MemoryGrowth < Rule
        PRIORITY = 35

        def call
          limit_bytes = @constraints.max_memory_bytes
          return [] unless limit_bytes && @situation.cluster? && all_known?
          return [] unless total(:pss_bytes) <= limit_bytes && total(:rss_bytes) > limit_bytes
          [remark(title: say(:sharing_ends), evidence: [say(:shared_today, pss_bytes: total(:pss_bytes),
            rss_bytes: total(:rss_bytes), limit_bytes:)], **remedy,
            undo: say(:workers_again, workers_count:))]
        end

        private

        # Workers leave the margin that a container needs; the last process may have it all.
        def remedy
          count = workers_count.downto(2).find { |some| unshared_bytes(some) <= @constraints.usable_bytes }
          count ||= (1 if unshared_bytes(1) <= @constraints.max_memory_bytes)
          unless count
            return {change: say(:none_unshared, unshared_bytes: unshared_bytes(1)), cost: say(:memory_or_work)}
          end
          puma_workers = @situation.topology.with(workers_count: count).puma_workers
          {change: say(:workers_unshared, workers_count: count), cost: say(:requests_less),
           lines: {PUMA_RB => "workers #{puma_workers}"}, factors: {"workers" => puma_workers.to_s}}
        end

        def processes = observation.processes

        def all_known? = processes.all? { |process| process.pss_bytes && process.rss_bytes }

        def total(name) = processes.sum(&name)

        # The master and so many workers, had they nothing in common. One worker is a single process, without a master.
        def unshared_bytes(workers_count)
          workers, others = processes.partition { |process| process.role == "worker" }
          worker_bytes = workers.sum(&:rss_bytes) / workers.size
          (workers_count == 1) ? worker_bytes : others.sum(&:rss_bytes) + workers_count * worker_bytes
        end
      end
    end
  end
end
