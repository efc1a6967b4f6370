# frozen_string_literal: true

module SimulationTwin
  # A thread of the app's own in a worker, such as one that sends metrics.
  class Background
    include OwnWork

    def initialize(simulation, worker, burst_ns, gap_ns)
      @simulation = simulation
      @worker = worker
      @burst_ns = burst_ns
      @gap_ns = gap_ns
    end

    def sleep_a_while
      gap_ns = -Math.log(1.0 - @simulation.background_random.fraction) * @gap_ns
      @simulation.after((gap_ns + 0.5).to_i, :background_woke, self)
    end

    # Event.
    def background_woke(_)
      @left_ns = @burst_ns
      @worker.gvl.want(self)
    end

    # Called by the GVL.
    def run = compute

    private

    def done
      @worker.gvl.release(self, blocking: false)
      sleep_a_while
    end
  end
end
