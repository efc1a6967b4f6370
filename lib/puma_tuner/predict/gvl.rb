# frozen_string_literal: true

module PumaTuner
  module Predict
    # One worker's GVL, as Ruby 3.3, 3.4 and 4.0 hand it over (Ruby source, thread_pthread.c, and probes of it):
    #
    # - Strictly first come, first served. Who releases it while others wait goes to the tail, were it for a microsecond.
    # - It is handed over, not thrown: during the hand-off nobody runs, and nobody can step in between.
    # - A timer of 10 ms of wall time ticks while somebody waits. It adds a tick to the owner's slice, on a core or not; with
    #   the slice full the owner goes to the tail. An owner that ran alone for seconds still has its whole slice once
    #   somebody comes.
    # - A timer that ticks already keeps its phase when owners change, so that a slice lasts between one tick less and full.
    #
    # Left out: code without safe points and GC, which stretch a slice; the stealing back that 3.1 and 3.2 allow.
    #
    # A contender has `run`, called when it owns the GVL, and `preempt`, called when its slice is over.
    class Gvl
      # @param machine [Model::Machine]
      def initialize(timeline, machine)
        @timeline = timeline
        @tick_ns = machine.tick_ns
        @ticks_per_slice = machine.quantum_ns / machine.tick_ns
        @handoff_ns = machine.handoff_ns
        @waiting = []
        @owner = nil
        @ticks_count = 0
        @ticking = false
        @handing_over = false
        @on_tick = method(:tick)
        @on_handed_over = method(:handed_over)
      end

      # The contender gets it now, or in its turn.
      def want(contender)
        if @owner
          @waiting.push(contender)
          start_timer unless @ticking
        else
          @owner = contender
          contender.run
        end
      end

      # By the owner. Wanting it again at once means waiting for everybody else.
      def release
        @owner = @waiting.shift
        return unless @owner
        @ticks_count = 0
        @handing_over = true
        @timeline.after(@handoff_ns, @on_handed_over)
      end

      private

      def handed_over
        @handing_over = false
        @owner.run
      end

      def start_timer
        @ticking = true
        @timeline.after(@tick_ns, @on_tick)
      end

      def tick
        return @ticking = false if @waiting.empty?
        start_timer
        return if @handing_over
        @ticks_count += 1
        end_slice if @ticks_count >= @ticks_per_slice
      end

      def end_slice
        @owner.preempt
        @waiting.push(@owner)
        release
      end
    end
  end
end
