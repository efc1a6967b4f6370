# frozen_string_literal: true

module SimulationTwin
  # What a pool thread does at the locks that its request acquires and releases (locks.c).
  module Locking
    # @return [Locks::Lock, nil] that it is in line for
    attr_reader :waits_for

    # Called by a Mutex: somebody has unlocked it. It can be taken by others before the thread has the GVL.
    def lock_is_free
      @waits_for = nil
      end_lock_wait
    end

    # Called by a pool: a connection was returned, and the thread is to wake up. In a fair pool it has that now.
    def wake_for_lock(after_ns = 0)
      @waits_for = nil
      late_ns = after_ns + @simulation.wakeups.lateness_ns(@simulation.now_ns, @wait_began_ns) + @simulation.wakeups.extra_ns
      @simulation.after(late_ns, :lock_woke, self)
    end

    # Event.
    def lock_woke(_) = end_lock_wait

    private

    def lock = @worker.locks[piece.wait_ns]

    # At a piece's end: the thread has the GVL, and keeps it unless it has to wait.
    def pass_marker
      if piece.wait_kind == Settings::RELEASE
        @worker.locks.release(lock, self)
      elsif !@worker.locks.acquire(lock, self)
        @connection.lock_waits[lock.index][0] += 1
        return line_up_for_lock
      end
      next_piece
    end

    def line_up_for_lock
      @state = :locking
      @wait_began_ns = @simulation.now_ns
      @waits_for = lock
      @worker.locks.line_up(lock, self)
      @worker.gvl.release(self, blocking: false)
    end

    def end_lock_wait
      waited_ns = @simulation.now_ns - @wait_began_ns
      @connection.lock_waits[lock.index][1] += waited_ns
      @connection.waited_ns[Tally::LOCK] += waited_ns
      @worker.gvl.want(self)
    end

    # It has waited, and has the GVL again: a fair pool's connection is its own by now, others may be another's.
    def after_lock_wait
      return next_piece if lock.held_by?(self) || @worker.locks.acquire(lock, self)
      line_up_for_lock
    end

    def next_piece
      @index += 1
      begin_burst
    end
  end
end
