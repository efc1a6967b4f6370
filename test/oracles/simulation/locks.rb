# frozen_string_literal: true

module SimulationTwin
  # The locks of one worker, and its pools of connections.
  class Locks
    FIRST_IS_WOKEN, FIRST_IS_GIVEN, ALL_ARE_WOKEN = CODES[:handover].values_at(:first_is_woken, :first_is_given, :all_are_woken)

    SIGNAL_NS = 8_000

    # servers_count; handover: FIRST_IS_WOKEN and so on; line: PoolThreads; depths: by thread that has it, how often: a Monitor can
    # be entered again
    Lock = Struct.new(:index, :servers_count, :handover, :line, :depths) do
      def free? = depths.size < servers_count

      def held_by?(thread) = depths.key?(thread)

      def enter(thread) = depths[thread] = depths.fetch(thread, 0) + 1
    end

    def initialize(simulation)
      @simulation = simulation
      @locks = simulation.settings.locks.each_with_index.map { |(servers_count, handover), index| Lock.new(index, servers_count, handover, [], {}.compare_by_identity) }
    end

    def [](index) = @locks[index]

    # @return [Boolean] whether the thread has it now
    def acquire(lock, thread)
      (lock.held_by?(thread) || lock.free?).tap { |open| lock.enter(thread) if open }
    end

    # The thread waits; when it holds another lock meanwhile, that may never end.
    def line_up(lock, thread)
      lock.line << thread
      stuck = stuck_with(thread) if @locks.any? { |held| held.held_by?(thread) }
      @simulation.deadlocked(stuck.map { |one| one.waits_for.index }.uniq.sort) if stuck
    end

    # What was acquired before the recording began is not the thread's to release.
    def release(lock, thread)
      return unless lock.held_by?(thread)
      return lock.depths[thread] -= 1 if lock.depths[thread] > 1
      let_go(lock, thread)
    end

    # The request is over, and its recording was cut.
    def release_all(thread) = @locks.each { |lock| let_go(lock, thread) if lock.held_by?(thread) }

    private

    def let_go(lock, thread)
      lock.depths.delete(thread)
      return if lock.line.empty?
      case lock.handover
      when FIRST_IS_WOKEN then lock.line.shift.lock_is_free
      when FIRST_IS_GIVEN
        first = lock.line.shift
        lock.enter(first)
        first.wake_for_lock
      when ALL_ARE_WOKEN
        lock.line.shift(lock.line.size).each_with_index { |thread, place| thread.wake_for_lock(place * SIGNAL_NS) }
      end
    end

    # @return [Array<PoolThread>, nil] it and all whom it waits for, at however many removes; nil when one of them can go on
    def stuck_with(thread)
      stuck = []
      line = [thread]
      until line.empty?
        one = line.shift
        next if stuck.include?(one)
        return if one.waits_for.nil? || one.waits_for.free?
        stuck << one
        line.concat(one.waits_for.depths.keys)
      end
      stuck
    end
  end
end
