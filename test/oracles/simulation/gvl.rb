# frozen_string_literal: true

module SimulationTwin
  # One worker's GVL. A contender has `run`, called when it owns the GVL, and `interrupt`, called when its slice is over.
  class Gvl
    # @return [Displaced]
    attr_reader :displaced

    def initialize(simulation)
      @simulation = simulation
      @settings = simulation.settings
      @waiting = []
      @ticks_count = @generation = @timer_generation = 0
      @ticking = @handing_over = false
      @displaced = Displaced.new(simulation, self)
    end

    # @return [Boolean] whether somebody has it, or it is being handed over
    def owned? = !@owner.nil?

    # @return [Boolean] whether it is on its way from one thread to the next
    def handing_over? = @handing_over

    # @return [Boolean] whether it has just been handed over to one who gets the core of whoever let go of it, as no other is idle
    def takes_core?
      fifo? && @handing_over && (@settings.affinity == 1 || @simulation.busy_workers_count >= @settings.cores_count)
    end

    # The contender gets it now, or in its turn.
    def want(contender)
      contender.wanted_ns = @simulation.now_ns
      if hot? && @handing_over && @returning.equal?(contender)
        call_off
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
      return @displaced.gvl_is_free if @waiting.empty?
      return if barging? && @handing_over # woken already
      @owner = @waiting.shift unless barging?
      @handing_over = true
      hand_over
    end

    # @return [Boolean] whether what it has a core for is over before long
    def brief? = true

    # Called by the cores: the kernel has done its work, and its CPU time is the server's.
    def burst_ended
      @simulation.tally.server_cpu_ns += @settings.handoff_busy_ns
      handed_over(@generation)
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

    def fifo? = @settings.gvl_rule == CODES[:gvl_rule][:fifo]

    def barging? = @settings.gvl_rule == CODES[:gvl_rule][:barging]

    def hot? = @settings.gvl_rule == CODES[:gvl_rule][:hot]

    def take(contender)
      @owner = contender
      @ticks_count = 0 unless @last_owner.equal?(contender)
      @last_owner = contender
      contender.run
    end

    # Where no core is idle, it is work on the one that both threads share.
    def hand_over
      busy = @simulation.cores.others_busy?
      delay_ns = busy ? @settings.handoff_busy_ns : @settings.handoff_ns
      extra_ns = (@owner || @waiting.first).rested? ? @simulation.wakeups.extra_ns : 0
      @generation += 1
      return @simulation.cores.start(self, delay_ns) if busy && extra_ns.zero?
      @simulation.after(delay_ns + extra_ns, :handed_over, self, @generation)
    end

    # Somebody takes the GVL back before its successor has begun.
    def call_off
      @handing_over = false
      @generation += 1
      return unless @simulation.cores.running?(self)
      @simulation.tally.server_cpu_ns += @settings.handoff_busy_ns - @simulation.cores.stop(self)
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
