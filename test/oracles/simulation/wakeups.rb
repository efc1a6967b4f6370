# frozen_string_literal: true

module SimulationTwin
  # How late a sleeping thread gets a core, by measured samples (cores.c).
  class Wakeups
    HALT_NS = 200_000
    MEETING_MOST_NS = 3_000_000

    def initialize(settings, cores)
      @settings = settings
      @cores = cores
      @random = RandomStream.new(settings.seed, 2)
    end

    # @param asleep_since_ns [Integer]
    # @return [Integer] of one that hardly ever computes
    def lateness_ns(now_ns, asleep_since_ns)
      late_ns = drawn(@settings.wakeup_idle_ns)
      (now_ns - asleep_since_ns < HALT_NS) ? [@settings.handoff_busy_ns, late_ns].min : late_ns
    end

    # @return [Integer] how much later one that computes, too
    def extra_ns
      task = @cores.task_at(@random.below(@settings.cores_count))
      task ? [drawn(@settings.wakeup_loaded_ns), @cores.left_ns(task)].min : 0
    end

    # @return [Integer] how much later one of several pool threads that rested
    def meeting_ns
      task = @cores.task_at(@random.below(@settings.cores_count))
      bound = @settings.affinity == 1 && @settings.workers_count <= @settings.cores_count
      (task && !bound) ? [@cores.left_ns(task), MEETING_MOST_NS].min : 0
    end

    private

    def drawn(sample) = sample[@random.below(sample.size)]
  end
end
