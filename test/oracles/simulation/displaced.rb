# frozen_string_literal: true

module SimulationTwin
  # Threads of a worker that let go of the GVL for a moment, and lost their core to whoever had it next (waits.c).
  class Displaced
    SLICE_NS = 1_400_000

    # @param gvl [Gvl] that they want again
    def initialize(simulation, gvl)
      @simulation = simulation
      @gvl = gvl
      @threads = []
      @slice_ends_ns = @freed_ns = 0
    end

    # It has let go of the GVL, which is being handed over.
    def add(thread)
      back, @threads = @threads.partition { @simulation.wakeups.chosen? }
      back.each(&:call)
      @threads << thread
      @slice_ends_ns = @simulation.now_ns + SLICE_NS
      @simulation.after(SLICE_NS, :core_free, self)
    end

    # Somebody let go of the GVL, and nobody wants it. If it was for a call that comes back at once, the core is not left.
    def gvl_is_free
      @freed_ns = @simulation.now_ns
      @simulation.after(shortest_sleep_ns, :core_free, self) if @threads.any?
    end

    # Event.
    def core_free(_)
      left = !@gvl.owned? && @simulation.now_ns - @freed_ns >= shortest_sleep_ns
      return unless left || @simulation.now_ns >= @slice_ends_ns
      @threads.shift.call until @threads.empty?
    end

    private

    def shortest_sleep_ns = @simulation.settings.wakeup_idle_ns.first
  end
end
