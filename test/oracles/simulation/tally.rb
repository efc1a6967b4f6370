# frozen_string_literal: true

module SimulationTwin
  # Counts answers: first those of the warm-up, whose only use is to fill the queues, then those that make the outcome.
  class Tally
    TOTALS = [*Parts::SIMULATED, :slices].freeze
    LOCK, COMPUTE = Parts::CODES.values_at("lock", "compute")

    # By part, of which waits it is the sum.
    WAITS = (Parts::SIMULATED & Parts::WAITS.map(&:to_sym)).to_h { |name| [name, Parts::CODES.values_at(*Parts.steps_of(name))] }.freeze
    IO = WAITS.fetch(:io)

    attr_accessor :in_flight_count, :server_cpu_ns

    def initialize(simulation)
      @simulation = simulation
      @settings = simulation.settings
      @left_to_warm_up_count = @settings.warm_up_count
      @latencies_ns = []
      @endpoints = []
      @worker_counts = Array.new(@settings.workers_count, 0)
      @totals = TOTALS.to_h { |name| [name, 0] }
      @lock_waits = Array.new(@settings.locks.size) { [0, 0] }
      @in_flight_count = @server_cpu_ns = @counted_server_cpu_ns = @began_ns = @ended_ns = @began_server_cpu_ns = @began_in_flight_count = 0
    end

    def full? = @latencies_ns.size >= @settings.requests_count

    # @param connection [Connection] whose request has been answered, and read
    def count(connection)
      @in_flight_count -= 1
      return warm_up if @left_to_warm_up_count.positive?
      return if full?
      @latencies_ns << @simulation.now_ns - connection.intended_ns
      @endpoints << connection.endpoint_index
      @worker_counts[connection.worker.index] += 1
      parts(connection).each { |name, ns| @totals[name] += ns }
      connection.lock_waits.each { |lock, waits| @lock_waits[lock] = @lock_waits[lock].zip(waits).map(&:sum) }
      @ended_ns = @simulation.now_ns
      @counted_server_cpu_ns = @server_cpu_ns - @began_server_cpu_ns
    end

    # @param deadlock [Array<Integer>] indexes of the locks that ended it
    # @return [Hash] as Core.run gives it
    def result(deadlock)
      {count: @latencies_ns.size, duration_ns: @ended_ns - @began_ns, lock_waits: @lock_waits.flatten.pack("q*"), deadlock:, latencies: @latencies_ns.pack("q*"), endpoints: @endpoints.pack("l*"), worker_counts: @worker_counts.pack("q*"),
       totals: {**@totals, server_cpu: @counted_server_cpu_ns}, began_in_flight: @began_in_flight_count, in_flight: @in_flight_count,
       events_count: @simulation.events_count, hash: @simulation.hash_number}
    end

    private

    def warm_up
      @left_to_warm_up_count -= 1
      @began_ns = @simulation.now_ns
      @began_server_cpu_ns = @server_cpu_ns
      @began_in_flight_count = @in_flight_count
    end

    def parts(connection)
      waited_ns = connection.waited_ns
      wall = @simulation.now_ns - connection.intended_ns
      {wall:, client: wall - (connection.answered_ns - connection.ready_ns), queue: connection.queue_ns, gvl_wait: connection.gvl_wait_ns,
       cpu: connection.on_core_ns - connection.gc_ns, gc: connection.gc_ns, preempted: connection.held_ns - connection.on_core_ns + waited_ns[COMPUTE],
       slices: connection.slices_count, **WAITS.transform_values { |codes| waited_ns.values_at(*codes).sum }}
    end
  end
end
