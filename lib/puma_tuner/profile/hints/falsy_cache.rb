# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # A cache that computes, or locks, again whenever what it holds is nil or false, because it asks whether the value
      # is true instead of whether the key is there. So it was with Concurrent::Map before concurrent-ruby 1.1.7, whose
      # compute_if_absent took its lock at each hit on a stored nil: 44,528 times in one query (F. Matsushima, 2020;
      # pull request 879 of concurrent-ruby).
      #
      # Evidence: a method that should only look up takes a lock in at least half of 100 calls or more.
      class FalsyCache
        LOOK_UPS = /[#.](?:compute_if_absent|fetch_or_store|fetch|\[\]|read_fetch|get_or_set)\z/
        LOCKED_RATIO = 0.5

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          lock, name, locked = worst(costs)
          look_up = name && costs.methods.select { |method| method.name == name }
            .max_by { |method| method.calls_count.to_i }
          return unless look_up&.calls_count && costs.per_work(look_up.calls_count).to_f >= Counts::LEAST_PER_WORK
          return if locked < look_up.calls_count * LOCKED_RATIO
          Hint.new(rule: "falsy_cache",
            title: "#{name} takes a lock in #{(100.0 * locked / look_up.calls_count).round}% of its calls, " \
              "though it should only look up",
            share_ratio: costs.share_ratio(look_up.self_amount + lock.self_amount),
            evidence: "#{locked} of its #{look_up.calls_count} calls took #{lock.name}. " \
              "A cache that holds nil or false for most keys, and tests the value instead of the key, does so.",
            cure: "Ask for the key (`key?`, `fetch` with a block, a sentinel for \"nothing\"), " \
              "or store a true value. For Concurrent::Map: concurrent-ruby 1.1.7 or newer.",
            proof: "puma_tuner prove --variant old:gem.concurrent-ruby=VERSION " \
              "--variant new:gem.concurrent-ruby=VERSION")
        end

        private

        # @return [Array(MethodCost, String, Integer), nil] the lock, who takes it most, and how often
        def worst(costs)
          costs.methods.select { |method| LockPerCall::LOCKS.match?(method.name) }
            .flat_map { |lock| lock.callers.filter_map { |name, count| [lock, name, count] if LOOK_UPS.match?(name) } }
            .max_by(&:last)
        end
      end
    end
  end
end
