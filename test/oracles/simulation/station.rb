# frozen_string_literal: true

module SimulationTwin
  # What waits of one kind queue for: so many servers, first come, first served; 0 servers: nothing to queue for.
  class Station
    def initialize(simulation, servers_count)
      @simulation = simulation
      @servers_count = servers_count
      @busy_count = 0
      @line = []
    end

    # @param thread [PoolThread]
    def enter(thread)
      return @line.push(thread) if @servers_count.positive? && @busy_count >= @servers_count
      serve(thread)
    end

    def leave
      @busy_count -= 1
      serve(@line.shift) unless @line.empty?
    end

    private

    def serve(thread)
      @busy_count += 1
      @simulation.after(thread.wait_ns, :wait_ended, thread)
    end
  end
end
