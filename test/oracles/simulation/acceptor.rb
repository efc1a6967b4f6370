# frozen_string_literal: true

module SimulationTwin
  # A worker's acceptor: a thread that wants the GVL for very little.
  class Acceptor
    include OwnWork

    def initialize(simulation, worker)
      @simulation = simulation
      @settings = simulation.settings
      @worker = worker
      @state = :asleep
      @delay_number = @asleep_since_ns = 0
    end

    # A connection is waiting.
    def notice = wake(:acceptor_woke)

    # A pool thread has gone idle: Puma 6 waits for that.
    def thread_free
      if @state == :gated
        @state = :looking
        @worker.gvl.want(self)
      elsif @state == :delayed && @settings.busy_delay_ns.positive?
        acceptor_delayed(@delay_number)
      end
    end

    # Called by the GVL: look whether to accept now.
    def run
      return compute if @state == :working
      return accept if @state == :accepting
      busy_count = @worker.pool.busy_count
      if @settings.gate == 1 && busy_count >= @settings.threads_max
        @state = :gated
        @worker.gvl.release(self, blocking: false)
      elsif busy_count.positive? && delay_ns(busy_count).positive?
        delay(delay_ns(busy_count))
      else
        accept
      end
    end

    # Events.

    def acceptor_woke(_)
      @state = :looking
      @worker.gvl.want(self)
    end

    def acceptor_delayed(number)
      return unless number == @delay_number && @state == :delayed
      @state = :accepting
      @worker.gvl.want(self)
    end

    private

    def delay_ns(busy_count)
      return 0 unless @settings.workers_count > 1 || @settings.single_delay == 1
      return @settings.busy_delay_ns if @settings.busy_delay_ns.positive?
      most = @settings.overload_factor * @settings.threads_max
      @settings.overload_delay_ns * [busy_count, most].min / most
    end

    def delay(ns)
      @state = :delayed
      @worker.gvl.release(self, blocking: false)
      @simulation.after(ns, :acceptor_delayed, self, @delay_number += 1)
    end

    def accept
      @accepted = @simulation.backlog.shift
      return sleep_until_noticed unless @accepted
      @state = :working
      @left_ns = @settings.acceptor_cpu_ns
      compute
    end

    # The connection is accepted.
    def done
      @accepted.worker = @worker
      @worker.pool.add(@accepted)
      sleep_until_noticed
    end

    def sleep_until_noticed
      @state = @simulation.backlog.any? ? :looking : :asleep
      @asleep_since_ns = @simulation.now_ns
      @worker.gvl.release(self, blocking: true)
      @worker.gvl.want(self) if @state == :looking
    end
  end
end
