# frozen_string_literal: true

module SimulationTwin
  # A thread of Puma's own whose CPU is nobody's request: @left_ns of it is still to do.
  module OwnWork
    attr_accessor :wanted_ns

    # @return [Boolean] it hardly ever computes, so that the kernel lets it through at once
    def rested? = false

    def interruptible? = @simulation.cores.running?(self) && @simulation.cores.left_ns(self).positive?

    # Called by the GVL: its slice is over.
    def interrupt
      left_ns = @simulation.cores.stop(self)
      @simulation.tally.server_cpu_ns += @left_ns - left_ns
      @left_ns = left_ns
    end

    # @return [Boolean] whether what it has a core for is over before long
    def brief? = false

    # Called by the cores.
    def burst_ended
      @simulation.tally.server_cpu_ns += @left_ns
      done
    end

    private

    # It sleeps in a select, since @asleep_since_ns.
    def wake(event)
      return unless @state == :asleep
      @state = :waking
      @simulation.after(@simulation.wakeups.lateness_ns(@simulation.now_ns, @asleep_since_ns), event, self)
    end

    def compute = @simulation.cores.start(self, @left_ns)
  end
end
