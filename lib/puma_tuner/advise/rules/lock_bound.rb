# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Names a lock that requests wait for: a Mutex, a Monitor, a Queue. Only one thread of a worker gets on at a time,
      # so more threads bring nothing. Pools of connections have a rule of their own (StarvedPool).
      #
      # Evidence: waits that the probe records as locks; which lock it was, where locks were watched. Effect: forecast
      # without the lock, which is the most there is to gain. Cost: work on the code. Undo: the code, or the log level.
      class LockBound < Rule
        PRIORITY = 90

        # By Amdahl's law a fifth of a request that only one thread at a time can do caps the gain from any number of
        # threads at five.
        LEAST_RATIO = 0.2
        NAMED_MAX = 5

        LOGGERS = /log_?device|logger|semantic_logger|lograge/i

        def call
          return [] if all_ratio < LEAST_RATIO && bound.empty?
          [advice(title: say(:waits_for_locks), evidence:, effect: named && effect,
            change: log? ? say(:log_less) : say(:lock_less), cost: say(:work_or_less_log),
            undo: say(:code_or_log_level))]
        end

        private

        def all_ratio = @situation.lock_ratio

        # @return [Array<Array(String, Float, Numeric)>] endpoints that wait, with the share of their time, and the time
        def bound
          @bound ||= @situation.lock_ratios.select { |_, ratio, _| ratio >= LEAST_RATIO }
            .sort_by { |_, ratio, _| -ratio }
        end

        # @return [Probe::LockObservation, nil] the one that was waited for longest
        def named
          @named ||= observation&.locks&.reject { |lock| lock.kind == "pool" }&.max_by(&:wait_ns)
            &.then { |lock| lock if lock.wait_ns.positive? }
        end

        def log? = named&.place.to_s.match?(LOGGERS)

        def evidence
          of_endpoints = bound.first(NAMED_MAX).map do |endpoint, ratio, lock_ns|
            say(:lock_of_endpoint, endpoint:, ratio:, lock_ns:)
          end
          more_count = bound.size - NAMED_MAX
          [*of_endpoints, *(say(:more_endpoints, endpoints_count: more_count) if more_count.positive?),
            say(:lock_of_all, ratio: all_ratio), *lock, *(say(:without_that_lock) if named && effect)]
        end

        def lock
          named && say(:lock_named, lock: named.class_name, place: named.place, holds_count: named.holds_count,
            hold_ns: named.hold_ns / [named.holds_count, 1].max, waits_count: named.waits_count)
        end

        def effect
          name = "#{named.class_name} at #{named.place}"
          return unless workload.locks.any? { |one| one.name == name }
          @effect ||= @situation.effect(what_if: ["without lock #{name}"])
        end
      end
    end
  end
end
