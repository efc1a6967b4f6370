# frozen_string_literal: true

module SimulationTwin
  # Who sends: a load generator of one thread, or clients elsewhere.
  class Clients
    def initialize(simulation)
      @simulation = simulation
      @settings = simulation.settings
      @arrivals_random = RandomStream.new(@settings.seed, 0)
      @picks_random = RandomStream.new(@settings.seed, 1)
      @connections = Array.new(@settings.connections_count) { |index| Connection.at(index) }
      @to_do = []
      @idle = []
      @closed = []
      @due_ns = []
      @group_left_count = @replayed_index = @asleep_since_ns = 0
    end

    # Connections of a closed loop that think begin spread over one time of thinking.
    def begin
      if open_loop?
        @closed.concat(@connections)
        return @simulation.after(next_gap_ns, :arrival, self)
      end
      @connections.each_with_index do |connection, index|
        @simulation.after(@settings.think_ns / @connections.size * index, :think_ended, self, connection)
      end
    end

    # Called by a pool thread.
    def answered(connection) = @settings.clients_elsewhere? ? received(connection) : want_to(:receive, connection)

    # Events.

    def arrival(_)
      connection = @idle.shift || @closed.shift
      if connection
        draw_request(connection, @simulation.now_ns)
        send_request(connection)
      else
        @due_ns << @simulation.now_ns
        # Due, and not answered: a queue that grows here grows, too.
        @simulation.tally.in_flight_count += 1
      end
      @simulation.after(next_gap_ns, :arrival, self)
    end

    def think_ended(connection)
      draw_request(connection, @simulation.now_ns)
      send_request(connection)
    end

    def client_woke(_)
      @waking = false
      work
    end

    # @return [Boolean] whether what it has a core for is over before long
    def brief? = false

    # Called by the cores: one piece of the generator's work is done.
    def burst_ended
      what, connection = @doing
      @doing = nil
      @asleep_since_ns = @simulation.now_ns # unless there is more
      (what == :send) ? arrive_at_server(connection) : received(connection)
      work
    end

    private

    def open_loop? = @settings.arrivals != CODES[:arrivals][:closed]

    def draw_request(connection, intended_ns)
      point = @picks_random.fraction
      index = @settings.endpoints.index { |upper_ratio, *| point < upper_ratio } || @settings.endpoints.size - 1
      _, first, count = @settings.endpoints[index]
      connection.intend(@settings.demand(@settings.picks[first + @picks_random.below(count)]), index, intended_ns)
      @simulation.tally.in_flight_count += 1
    end

    def send_request(connection) = @settings.clients_elsewhere? ? arrive_at_server(connection) : want_to(:send, connection)

    def want_to(what, connection)
      @to_do << [what, connection]
      return if @doing || @waking
      @waking = true
      @simulation.after(@simulation.wakeups.lateness_ns(@simulation.now_ns, @asleep_since_ns), :client_woke, self)
    end

    def work
      return if @doing || @to_do.empty?
      @doing = @to_do.shift
      @simulation.cores.start(self, (@doing.first == :send) ? @settings.send_cpu_ns : @settings.receive_cpu_ns)
    end

    def arrive_at_server(connection)
      connection.ready_ns = @simulation.now_ns
      connection.data_ready = true
      if !connection.open
        connection.connect
        @simulation.connect(connection)
      elsif connection.registered
        connection.worker.reactor.notice(connection)
      elsif connection.parked
        thread = connection.parked
        @simulation.after(@simulation.wakeups.lateness_ns(@simulation.now_ns, thread.asleep_since_ns), :unparked, thread, thread.park_number)
      end
    end

    def received(connection)
      @simulation.tally.count(connection)
      connection.open = false if connection.closing
      free_again(connection)
    end

    # The connection can take its next request.
    def free_again(connection)
      if !open_loop? && @settings.think_ns.positive?
        @simulation.after(@settings.think_ns, :think_ended, self, connection)
      elsif !open_loop? || @due_ns.any?
        draw_request(connection, open_loop? ? take_due : @simulation.now_ns)
        # The generator sends it without another turn of its loop.
        @settings.clients_elsewhere? ? arrive_at_server(connection) : @to_do.unshift([:send, connection])
      else
        (connection.open ? @idle : @closed) << connection
      end
    end

    # Until it is drawn it is not counted.
    def take_due
      @simulation.tally.in_flight_count -= 1
      @due_ns.shift
    end

    def next_gap_ns
      case @settings.arrivals
      when CODES[:arrivals][:even] then rounded(@settings.gap_ns)
      when CODES[:arrivals][:bursty] then next_of_group_ns
      when CODES[:arrivals][:replayed] then next_replayed_ns
      else rounded(exponential_ns(@settings.gap_ns))
      end
    end

    def exponential_ns(mean_ns) = -Math.log(1.0 - @arrivals_random.fraction) * mean_ns

    def rounded(ns) = (ns + 0.5).to_i

    # Groups come by chance; how many are in one is geometric.
    def next_of_group_ns
      if @group_left_count.positive?
        @group_left_count -= 1
        return 0
      end
      group_count = @settings.group_count
      @group_left_count = (Math.log(1.0 - @arrivals_random.fraction) / Math.log(1.0 - 1.0 / group_count)).to_i if group_count > 1.0
      rounded(exponential_ns(@settings.gap_ns * group_count))
    end

    # Over and over; the last gap stands before the first is repeated.
    def next_replayed_ns
      times_ns = @settings.times_ns
      index = @replayed_index
      last = times_ns.size - 1
      @replayed_index = (index == last) ? 0 : index + 1
      (index == last) ? times_ns[last] - times_ns[last - 1] : times_ns[index + 1] - times_ns[index]
    end
  end
end
