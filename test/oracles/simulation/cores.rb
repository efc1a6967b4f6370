# frozen_string_literal: true

module SimulationTwin
  # The cores, as a fluid that busy tasks share evenly.
  class Cores
    UNIT = 65_536

    def initialize(simulation)
      @simulation = simulation
      @settings = simulation.settings
      @tasks = []
      @ends = {}.compare_by_identity
      @total = @read_ns = @rate = @tokens = 0
      @frozen = false
    end

    # @return [Object, nil] one of those that compute, in the order in which they began
    def task_at(index) = @tasks[index]

    # @return [Boolean] whether a thread that just let go of its core has left the only idle one. Bound to one core, it has no other
    #   to wake up on.
    def others_busy? = @settings.affinity == 1 || @tasks.count { |task| !task.brief? } >= @settings.cores_count - 1

    # @return [Boolean] whether a core that a process left idle since then has gone to sleep by now. Where all are busy, the others
    #   keep it awake.
    def gone_cold?(since_ns) = @simulation.now_ns - since_ns >= Wakeups::HALT_NS && @tasks.size < @settings.cores_count

    def running?(task) = @ends.key?(task)

    def start(task, cpu_ns)
      read_total
      @ends[task] = @total + cpu_ns * UNIT
      @tasks << task
      share_out
    end

    # @return [Integer] nanoseconds of CPU that the task still needs
    def left_ns(task)
      read_total
      left = @ends[task] - @total
      left.positive? ? left.ceildiv(UNIT) : 0
    end

    # @return [Integer] the same, and the task no longer computes
    def stop(task) = left_ns(task).tap { take_off(task) }

    # @return [Integer] when the next task will be done, or the quota spent, if nothing changes
    def due_ns
      return EventQueue::NEVER_NS if @rate.zero?
      due_ns = @read_ns + [(first_end - @total).ceildiv(@rate), 0].max
      return due_ns if @settings.quota_ns.zero?
      [due_ns, @read_ns + [@tokens.ceildiv(@rate * @tasks.size), 0].max].min
    end

    # @return [#burst_ended, nil] the task that is done, no longer on the cores; of several, the one that started first; nil when
    #   the quota is spent instead
    def finish
      read_total
      task = @tasks.min_by { |running| @ends[running] }
      return take_off(task) if @ends[task] <= @total
      @frozen = true
      share_out
      nil
    end

    # Event, and the beginning: a period of the quota begins.
    def quota_renewed(_ = nil)
      read_total
      @tokens = @settings.quota_ns * UNIT
      @frozen = false
      share_out
      @simulation.after(@settings.period_ns, :quota_renewed, self)
    end

    private

    def first_end = @tasks.map { |task| @ends[task] }.min

    def take_off(task)
      @tasks.delete_at(@tasks.index { |running| running.equal?(task) })
      @ends.delete(task)
      share_out
      task
    end

    def read_total
      grown = (@simulation.now_ns - @read_ns) * @rate
      @read_ns = @simulation.now_ns
      @total += grown
      @tokens -= grown * @tasks.size unless @settings.quota_ns.zero?
    end

    def share_out
      rates = @settings.rates
      @rate = if @tasks.empty? || @frozen then 0
      elsif @tasks.size <= rates.size then rates[@tasks.size - 1]
      else rates.last * rates.size / @tasks.size
      end
    end
  end
end
