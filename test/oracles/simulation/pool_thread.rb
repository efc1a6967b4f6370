# frozen_string_literal: true

module SimulationTwin
  # One thread of a worker's pool, going through the bursts and waits of one request after the other (worker.c).
  class PoolThread
    include Locking

    attr_accessor :wanted_ns
    attr_reader :park_number, :asleep_since_ns

    def initialize(simulation, worker, pool, there:)
      @simulation = simulation
      @settings = simulation.settings
      @worker = worker
      @pool = pool
      @state = there ? :idle : :gone
      @park_number = @switch_ns = 0
    end

    def gone? = @state == :gone

    def spawn
      @state = :taking
      @signalled = false
      @worker.gvl.want(self)
    end

    # There is something to do; until it runs it still counts as waiting.
    def signal
      @state = :taking
      @signalled = true
      @worker.gvl.want(self)
    end

    # @return [Integer] how long the wait lasts that it has come to
    def wait_ns = piece.wait_ns

    # Called by the GVL.
    def run
      waited_ns = @simulation.now_ns - @wanted_ns
      @switch_ns = switch_cpu_ns if @pool.switch_to(self)
      case @state
      when :taking then take(waited_ns)
      when :fresh then wait_over(waited_ns) { begin_request }
      when :burst then wait_over(waited_ns) { compute }
      when :waiting then wait_over(waited_ns) { begin_burst_after_wait }
      when :locking then wait_over(waited_ns) { after_lock_wait }
      when :tail then compute
      when :polled then after_poll(waited_ns)
      when :unparking then @timed_out ? give_to_reactor : serve(@connection, waited_ns)
      end
    end

    # @return [Boolean] whether it was woken for a request, and may find the core taken that it had
    def rested? = @state == :taking

    # Garbage collection, at the end of a burst, is not interrupted.
    def interruptible? = @simulation.cores.running?(self) && @simulation.cores.left_ns(self) > @gc_ns

    def interrupt
      left_ns = @simulation.cores.stop(self)
      account(@left_ns - left_ns)
      @left_ns = left_ns
      @connection.slices_count += 1 if @state == :burst
    end

    # @return [Boolean] whether what it has a core for is over before long
    def brief? = @state == :waiting

    # Called by the cores.
    def burst_ended
      return computed_without_gvl if @state == :computing
      return called if @state == :waiting
      account(@left_ns)
      return tail_ended if @state == :tail
      @connection.gc_ns += @gc_ns
      return respond unless piece.wait_ns
      piece.marker? ? pass_marker : begin_wait
    end

    # Events.

    # The first time the wait itself is over, the second time the thread has a core.
    def wait_ended(_)
      unless @late
        @simulation.stations[piece.wait_kind].leave if at_station?
        extra_ns = slept? ? @simulation.wakeups.extra_ns : 0
        if extra_ns.positive?
          @late = true
          return @simulation.after(extra_ns, :wait_ended, self)
        end
      end
      @late = false
      return_from_wait
    end

    # It has a core, maybe again, and makes its call there.
    def call = @simulation.cores.start(self, @left_ns)

    def park_ended(number) = leave_park(number, timed_out: true)

    def unparked(number) = leave_park(number, timed_out: false)

    private

    def piece = @pieces[@index]

    def take(waited_ns)
      @pool.waiting_count -= 1 if @signalled
      connection = @pool.todo.shift
      connection ? serve(connection, waited_ns) : go_idle
    end

    # A request's window opens when its thread was woken for it: what it then waited for the GVL is the request's.
    def serve(connection, waited_ns)
      since_ready_ns = @simulation.now_ns - connection.ready_ns
      @connection = connection
      connection.gvl_wait_ns = [waited_ns, since_ready_ns].min
      connection.queue_ns = since_ready_ns - connection.gvl_wait_ns
      connection.data_ready = false
      return begin_request unless connection.fresh && @settings.queue_requests == 1
      connection.fresh = false
      look(:fresh)
    end

    def look(state)
      @state = state
      @worker.gvl.release(self, blocking: true)
      @worker.gvl.want(self)
    end

    def begin_request
      @pieces = @connection.pieces
      @index = 0
      @long_gc_ns = @worker.due_gc_ns(@settings.endpoints[@connection.endpoint_index][4])
      mark_io_bound
      begin_burst
    end

    def mark_io_bound
      return if @settings.io_threads_max.zero? || @io_bound || @settings.endpoints[@connection.endpoint_index][3].zero?
      @io_bound = true
      @pool.mark_io_bound
    end

    def begin_burst
      @state = :burst
      @left_ns = piece.burst_ns
      @gc_ns = piece.gc_ns
      collect_long if @gc_ns.positive? && @long_gc_ns.positive?
      compute
    end

    # The core has nothing of the process at hand, as nobody of its pool has computed for a while.
    def begin_burst_after_wait
      @switch_ns += @settings.cold_cpu_ns if @simulation.cores.gone_cold?(@worker.computed_ns)
      begin_burst
    end

    def collect_long
      @left_ns += @long_gc_ns
      @gc_ns += @long_gc_ns
      @long_gc_ns = 0
    end

    def switch_cpu_ns = @simulation.cores.others_busy? ? @settings.switch_busy_cpu_ns : @settings.switch_cpu_ns

    def compute
      @began_ns = @simulation.now_ns
      @left_ns += @switch_ns
      @switch_ns = 0
      @simulation.cores.start(self, @left_ns)
    end

    def wait_over(waited_ns)
      @connection.gvl_wait_ns += waited_ns
      yield
    end

    # What a burst has cost so far goes to the request that it is of.
    def account(cpu_ns)
      @worker.computed_ns = @simulation.now_ns
      @simulation.tally.server_cpu_ns += cpu_ns
      return unless @state == :burst
      @connection.on_core_ns += cpu_ns
      @connection.held_ns += @simulation.now_ns - @began_ns
    end

    # Native code that computes without the GVL takes a core.
    def begin_wait
      kind = piece.wait_kind
      @wait_began_ns = @simulation.now_ns
      @state = :waiting
      @worker.gvl.release(self, blocking: kind == Tally::COMPUTE || Tally::IO.include?(kind))
      return begin_waiting unless kind == Tally::COMPUTE
      @state = :computing
      @simulation.cores.start(self, piece.wait_ns)
    end

    def begin_waiting
      return @simulation.stations[piece.wait_kind].enter(self) if at_station?
      return @simulation.after(wait_ns, :wait_ended, self) if wait_ns >= @settings.wakeup_idle_ns.first
      @left_ns = wait_ns + (@worker.gvl.handing_over? ? @settings.release_cpu_ns : 0)
      @worker.gvl.takes_core? ? @worker.gvl.displaced.add(self) : call
    end

    # IO that comes back at once takes no server of its kind's station.
    def at_station? = wait_ns >= PumaTuner::Model::Demand::SLEPT_NS || !Tally::IO.include?(piece.wait_kind)

    def computed_without_gvl
      @worker.computed_ns = @simulation.now_ns
      @simulation.tally.server_cpu_ns += piece.wait_ns
      @connection.on_core_ns += piece.wait_ns
      @state = :waiting
      return_from_wait
    end

    def called
      @simulation.tally.server_cpu_ns += @left_ns
      return_from_wait
    end

    def return_from_wait
      @connection.waited_ns[piece.wait_kind] += @simulation.now_ns - @wait_began_ns
      @index += 1
      @worker.gvl.want(self)
    end

    def slept? = @simulation.now_ns - @wait_began_ns >= @settings.wakeup_idle_ns.first

    # The response leaves while the thread still has the GVL, which it needs a little longer. What it still has of locks is of a
    # recording that was cut.
    def respond
      @worker.locks.release_all(self)
      @connection.answered_ns = @simulation.now_ns
      @connection.served_count += 1
      @connection.inline_count += 1
      @closing = @connection.closing = closes?
      @simulation.clients.answered(@connection)
      @state = :tail
      @left_ns = @settings.tail_cpu_ns
      @gc_ns = 0
      compute
    end

    def parks? = @settings.after_response == CODES[:after_response][:park]

    # The client has made enough of it; or Puma 6 wants others to have their turn. Without a reactor nobody could watch it.
    def closes?
      return true if @settings.queue_requests.zero?
      return true if @settings.reuse_count.positive? && @connection.served_count >= @settings.reuse_count
      parks? && @connection.inline_count >= @settings.inline_max && @pool.busy_count >= @settings.threads_max && @simulation.backlog.any?
    end

    def tail_ended
      return next_request if @closing
      return give_to_reactor if parks? && @connection.inline_count >= @settings.inline_max && @pool.todo.any?
      return park if parks? && !@connection.data_ready
      @readable = @connection.data_ready
      look(:polled)
    end

    def park
      @state = :parked
      @asleep_since_ns = @simulation.now_ns
      @connection.parked = self
      @worker.gvl.release(self, blocking: true)
      @simulation.after(@settings.park_ns, :park_ended, self, @park_number += 1)
    end

    # Data has come, or the time is over.
    def leave_park(number, timed_out:)
      return unless number == @park_number
      @park_number += 1
      @connection.parked = nil
      @timed_out = timed_out
      @state = :unparking
      @worker.gvl.want(self)
    end

    def after_poll(waited_ns)
      return give_to_reactor unless @readable
      inline = parks? || (@settings.after_response == CODES[:after_response][:poll_inline] && @pool.waiting_count.positive?)
      return serve(@connection, waited_ns) if inline
      @pool.add(@connection)
      next_request
    end

    def give_to_reactor
      @connection.inline_count = 0
      @worker.reactor.add(@connection)
      next_request
    end

    def next_request
      return leave if @io_bound && unmark_io_bound
      connection = @pool.todo.shift
      connection ? serve(connection, 0) : go_idle
    end

    def unmark_io_bound
      @io_bound = false
      @pool.unmark_io_bound
    end

    def leave
      @state = :gone
      @switch_ns = 0
      @worker.gvl.release(self, blocking: false)
    end

    def go_idle
      @state = :idle
      @switch_ns = 0 # nothing was computed that it could have slowed down
      @pool.rest(self)
      @worker.gvl.release(self, blocking: false)
    end
  end
end
