# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Names a pool of connections that has fewer places than a worker has threads, and makes requests wait. More
      # threads are never the cure: each of them waits, too, and what is taken for IO is the wait for a connection.
      #
      # Evidence: the pool's size and the waits for it, which the probe tells from other locks. Threshold: they take 5%
      # of the requests' time, a judgement: beyond what a setting is recommended for (Choice::EQUAL_WITHIN_RATIO).
      # Effect: forecast with a place for each thread, where the pool was watched. Cost: connections, of which the
      # database has so many. Undo: the old size.
      class StarvedPool < Rule
        PRIORITY = 95

        LEAST_RATIO = 0.05

        def call
          ratio = @situation.pool_ratio
          return [] if ratio.nil? || ratio < LEAST_RATIO
          [advice(title: say(:pool_starves), evidence: evidence(ratio), effect:, change:, lines:,
            cost: say(:connections_of_all, **connections), undo: say(:old_pool_size, size: pool&.size))]
        end

        private

        def threads_count = holders_count(@situation.topology)

        def places_count = places_for(@situation.topology)

        # Then the pool can't have a place for each thread.
        def limited? = places_count < threads_count

        # The one that was waited for longest.
        def pool = @pool ||= pools.max_by(&:wait_ns)

        # Then others have the connections: threads of the background, or requests that hold two at a time.
        def large_enough? = !pool.nil? && pool.size >= threads_count

        def change
          return say(:pool_taken) if large_enough?
          return say(:pool_of_allowed, places_count:, threads_count:) if limited?
          say(:pool_for_all_threads, threads_count:, others_count: other_holders_count, active_record: active_record?)
        end

        def active_record? = !pool.nil? && of_active_record?(pool)

        def evidence(ratio)
          known = pool && say(:pool_of_size, pool: pool.class_name, place: pool.place, size: pool.size, threads_count:,
            waits_count: pool.waits_count, holds_count: pool.holds_count)
          [say(:pool_waits, ratio:), known, say(:threads_would_wait)]
        end

        def effect
          name = workload.locks.find { |lock| pool && lock.name == "#{pool.class_name} at #{pool.place}" }&.name
          @situation.effect(what_if: ["size(#{name})=#{places_count}"]) if name && larger?
        end

        def lines = (active_record? && larger?) ? pool_lines(places_count) : {}

        # Whether the pool is to have more places than today, or nobody knows how many it has.
        def larger? = !large_enough? && (pool.nil? || places_count > pool.size)

        def connections
          {connections_count: places_count * @situation.topology.workers_count,
           today_count: pool && [pool.size, threads_count].min * @situation.topology.workers_count}
        end
      end
    end
  end
end
