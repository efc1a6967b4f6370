# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # Locks taken hundreds of times in one request. Alone, a lock costs a method call or three; with several threads,
      # it is also where they queue.
      #
      # Evidence: 100 locks or more in one request, by the calls of Mutex and Monitor.
      class LockPerCall
        LOCKS = /\A(?:Thread::)?(?:Mutex|Monitor|MonitorMixin)#(?:synchronize|lock|mon_synchronize|enter|mon_enter)\z/

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          locks = Counts.per_work(costs).select { |method, _| LOCKS.match?(method.name) }
          lock, count = locks.max_by(&:last)
          return unless lock && count >= Counts::LEAST_PER_WORK
          Hint.new(rule: "lock_per_call",
            title: "#{lock.name} is called #{count.round} times in one #{costs.work_noun}",
            share_ratio: costs.share_ratio(locks.keys.sum(&:self_amount)),
            evidence: evidence(lock),
            cure: "Read without the lock what is written once (a frozen Hash, Concurrent::Map's own reading), " \
              "or take the lock around the loop instead of inside it.",
            proof: "puma_tuner prove with several threads: what a lock costs shows under contention only")
        end

        private

        def evidence(lock)
          return "Who takes it is not known to this profiler; ruby-prof knows." if lock.callers.empty?
          "Taken by #{lock.callers.first(4).map { |name, count| "#{name} (#{count} times)" }.join(", ")}."
        end
      end
    end
  end
end
