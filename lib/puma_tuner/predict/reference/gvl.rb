# frozen_string_literal: true

module PumaTuner
  module Predict
    module Reference
      # One worker's GVL (Ruby source, thread_pthread.c, and probes of it).
      #
      # Ruby 3.3 to 4.0 (fifo):
      # - Strictly first come, first served. Who releases it while others wait goes to the tail, were it for a microsecond.
      # - It is handed over, not thrown: during the hand-off nobody runs, and nobody can step in between.
      # - A timer of 10 ms of wall time ticks while somebody waits. It adds a tick to the owner's slice, on a core or not; with
      #   the slice full the owner goes to the tail. An owner that ran alone for seconds still has its whole slice once somebody
      #   comes. The count begins anew only when another thread has run in between.
      # - A timer that ticks already keeps its phase when owners change, so that a slice lasts between one tick less and full.
      # - Garbage collection has no safe point: a slice can't end in it.
      #
      # 3.1 and 3.2 (barging): it is thrown. The first in line is woken, and whoever wants it before that one runs has it; the
      # woken one then asks the thief to go. The first in line is the timer: after one slice it asks the owner to go.
      #
      # 4.1 (hot): as fifo, but who returns from a call that may block before its successor has begun takes it back; the successor
      # stays the first in line. Not after a sleep, a lock or the end of a slice.
      #
      # A contender has `run`, called when it owns the GVL, and `interrupt`, called when its slice is over.
      class Gvl
        def initialize(simulation)
          @simulation = simulation
          @settings = simulation.settings
          @waiting = []
          @ticks_count = @generation = @timer_generation = 0
          @ticking = @handing_over = false
        end

        # The contender gets it now, or in its turn.
        def want(contender)
          contender.wanted_ns = @simulation.now_ns
          if hot? && @handing_over && @returning.equal?(contender)
            @handing_over = false
            @generation += 1
            @waiting.unshift(@owner)
            take(contender)
          elsif @owner.nil?
            take(contender)
          else
            @waiting.push(contender)
            start_timer
          end
        end

        # By the owner.
        # @param blocking [Boolean] for a call that may come back at once
        def release(contender, blocking:)
          @returning = (contender if blocking)
          @owner = nil
          return if @waiting.empty?
          return if barging? && @handing_over # woken already
          @owner = @waiting.shift unless barging?
          @handing_over = true
          @simulation.after(handoff_ns, :handed_over, self, @generation += 1)
        end

        # Events.

        def handed_over(generation)
          return unless generation == @generation
          @handing_over = false
          return take(@owner) unless barging?
          return end_slice if @owner # a thief, who goes at once
          @ticking = false
          @timer_generation += 1
          woken = @waiting.shift
          start_timer unless @waiting.empty?
          take(woken)
        end

        def tick(generation)
          return unless generation == @timer_generation
          @ticking = false
          return if @waiting.empty?
          return end_slice_of_barging if barging?
          start_timer
          return if @handing_over
          @ticks_count += 1
          end_slice if @ticks_count >= @settings.ticks_per_slice
        end

        private

        def barging? = @settings.gvl_rule == Rules::GVL[:barging]

        def hot? = @settings.gvl_rule == Rules::GVL[:hot]

        def take(contender)
          @owner = contender
          @ticks_count = 0 unless @last_owner.equal?(contender)
          @last_owner = contender
          contender.run
        end

        # To wake an idle core takes longer than to go on with the one that has just been left; and the successor has slept, so that
        # the core it had may be busy, like any other sleeper's.
        def handoff_ns
          delay_ns = @simulation.cores.others_busy? ? @settings.handoff_busy_ns : @settings.handoff_ns
          (@owner || @waiting.first).computes? ? delay_ns + @simulation.wakeups.extra_ns : delay_ns
        end

        def start_timer
          return if @ticking
          @ticking = true
          @simulation.after(barging? ? @settings.tick_ns * @settings.ticks_per_slice : @settings.tick_ns, :tick, self, @timer_generation += 1)
        end

        def end_slice_of_barging
          end_slice if @owner
          start_timer
        end

        def end_slice
          owner = @owner
          return unless owner.interruptible?
          owner.interrupt
          owner.wanted_ns = @simulation.now_ns
          @waiting.push(owner)
          release(owner, blocking: false)
        end
      end
    end
  end
end
