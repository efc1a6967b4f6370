# frozen_string_literal: true

module PumaTuner
  module Model
    # Decides which of the watched locks are simulated: those that several threads can want at once.
    #
    # A lock that each connection of a pool has of its own is taken by one thread after the
    # other, and was never waited for. Two recorded requests that had the same connection
    # would wait for each other in a simulation, although no two threads ever did.
    class LockFit
      # If the lock were everybody's, there would have to be so many waits before their absence tells that it is not.
      # This is a judgement; by chance none of five comes about once in 150 times (Poisson).
      EXPECTED_LEAST_COUNT = 5

      # Waits for locks that nobody watched are told about when they are this share of a request.
      UNWATCHED_RATIO = 0.02

      # Pools that wake all who wait, as the gem connection_pool's do.
      UNFAIR_POOL_CLASSES = %w[ConnectionPool::TimedStack].freeze

      # @param observation [Probe::Observation] with its companions
      def initialize(observation)
        @observation = observation
      end

      # @return [Array<LockDemand>]
      def locks
        demands = shared.map do |lock|
          LockDemand.new(name: "#{lock.class_name} at #{lock.place}", kind: kind(lock), servers_count: lock.size || 1)
        end
        demands.freeze
      end

      # @return [Hash{Integer => Integer}] places in `locks`, by id
      def places = @places ||= shared.each_with_index.to_h { |lock, index| [lock.id, index] }

      # @return [Float, nil] share of a request that is waits for locks nobody watched, which are as recorded, whatever
      #   the setting; nil when they are simulated, or as good as none
      def unwatched_ratio
        return if @observation.locks
        budgets = @observation.endpoints.map(&:budget)
        lock_ns = budgets.sum { |budget| budget.lock_ns.to_i }
        wall_ns = budgets.sum { |budget| budget.wall_ns.to_i - budget.queue_ns.to_i }
        lock_ns.fdiv(wall_ns) if wall_ns.positive? && lock_ns > UNWATCHED_RATIO * wall_ns
      end

      private

      def kind(lock) = UNFAIR_POOL_CLASSES.include?(lock.class_name) ? "unfair_pool" : lock.kind

      # Returns the locks that recorded requests tried to get; others are between threads that serve none.
      def shared
        @shared ||= (@observation.locks || []).select do |lock|
          tried_ids.include?(lock.id) && (lock.kind == "pool" || (wanted_at_once?(lock) && !of_one_connection?(lock)))
        end
      end

      def tried_ids
        @tried_ids ||= traces.flat_map { |trace| tried_in(trace) }.uniq
      end

      def tried_in(trace)
        trace.steps.each_slice(2).filter_map { |kind, id| id if kind == "acquire" }
      end

      def traces = @observation.endpoints.flat_map(&:traces)

      # Looks at all recordings, as nobody can tell from those with one thread.
      def wanted_at_once?(lock)
        evidence = [@observation, *@observation.companions].select { |recording| recording.topology.threads_count > 1 }
          .filter_map { |recording| same(recording, lock)&.then { |there| [recording, there] } }
        return true if evidence.any? { |_, there| there.waits_count.positive? }
        evidence.sum { |recording, there| expected_waits_count(recording, there) } < EXPECTED_LEAST_COUNT
      end

      # Returns the lock with the same number where there are several at one place, if there is one.
      def same(recording, lock)
        alike = (recording.locks || []).select do |other|
          [other.kind, other.class_name, other.place] == [lock.kind, lock.class_name, lock.place]
        end
        alike.find { |other| other.id == lock.id } || alike.first
      end

      # A thread that tries meets one of the others with the lock as often as these have it.
      def expected_waits_count(recording, lock)
        threads_count = recording.topology.threads_count
        busy_ratio = lock.hold_ns.fdiv(recording.duration_ns * recording.topology.workers_count)
        lock.holds_count * [busy_ratio, 1].min * (threads_count - 1) / threads_count
      end

      # Always taken with a connection in hand.
      def of_one_connection?(lock)
        pool_ids = @observation.locks.select { |other| other.kind == "pool" }.map(&:id)
        return false if pool_ids.empty?
        inside = traces.flat_map { |trace| acquired_inside(trace, lock.id, pool_ids) }
        inside.any? && inside.all?
      end

      # @return [Array<Boolean>] for each time that the request tried to get the lock, whether it had a connection
      def acquired_inside(trace, id, pool_ids)
        held = Hash.new(0)
        trace.steps.each_slice(2).each_with_object([]) do |(kind, number), inside|
          next unless Probe::Parts::MARKERS.key?(kind)
          held[number] += (kind == "acquire") ? 1 : -1 if pool_ids.include?(number)
          inside << pool_ids.any? { |pool_id| held[pool_id].positive? } if kind == "acquire" && number == id
        end
      end
    end
  end
end
