# frozen_string_literal: true

module SimulationTwin
  # A worker's reactor: the thread that watches the connections no pool thread has.
  class Reactor
    include OwnWork

    def initialize(simulation, worker)
      @simulation = simulation
      @settings = simulation.settings
      @worker = worker
      @state = :asleep
      @asleep_since_ns = 0
      @ready = []
      @batch = []
      @input = []
    end

    # Data has come for a connection that it watches.
    def notice(connection)
      connection.registered = false
      @ready << connection
      wake(:reactor_woke)
    end

    # By a pool thread.
    def add(connection)
      @input << connection
      wake(:reactor_woke)
    end

    # Called by the GVL.
    def run
      if @state == :looking
        @registering_count = @input.size
        @left_ns = @batch.size * @settings.reactor_wakeup_cpu_ns + @registering_count * @settings.reactor_register_cpu_ns
        @state = :working
      end
      compute
    end

    # Event.
    def reactor_woke(_) = collect

    private

    # The pass is over.
    def done
      @worker.pool.add(@batch.shift) until @batch.empty?
      @input.shift(@registering_count).each { |connection| watch(connection) }
      @worker.gvl.release(self, blocking: true)
      (@ready.any? || @input.any?) ? collect : @state = :asleep
      @asleep_since_ns = @simulation.now_ns
    end

    def collect
      @batch.concat(@ready)
      @ready.clear
      @state = :looking
      @worker.gvl.want(self)
    end

    def watch(connection)
      connection.data_ready ? @ready << connection : connection.registered = true
    end
  end
end
