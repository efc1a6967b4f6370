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
      likely = several? ? @settings.meeting_permille : 1000
      place = @random.below(1000 * @settings.cores_count)
      return 0 if likely.zero? || bound? || !(task = @cores.task_at(place / likely))
      [@cores.left_ns(task), several? ? MEETING_MOST_NS : drawn(@settings.wakeup_loaded_ns)].min
    end

    # @return [Boolean] whether the kernel lets one go on that has lost its core, when it chooses anew there
    def chosen? = @random.below(3).positive?

    private

    def several? = @settings.threads_max + @settings.io_threads_max > 1

    def bound? = several? && @settings.affinity == 1 && @settings.workers_count <= @settings.cores_count

    def drawn(sample) = sample[@random.below(sample.size)]
  end
end
