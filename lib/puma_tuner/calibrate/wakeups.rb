# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Measures how late a sleeping thread gets a core.
    #
    # Idle: how much longer than asked a short sleep lasts, on the machine as it is, without the kernel's slack for
    # timers (50 µs), as who waits for a socket has none.
    #
    # The loaded figure is that of a pool thread beside others that compute, too: in as many processes as there are
    # cores, three threads each compute for 1 ms and sleep for 2. It is the kernel's own count of how long a thread
    # could have run and had no core, over its sleep. Linux lets a thread through at once that hardly ever computes; one
    # that computes as much as the one that has the core waits for the end of its slice.
    module Wakeups
      SAMPLES_COUNT = 320

      # So many values are kept.
      KEPT_COUNT = 64

      # Sleeps of 1 to 2 ms.
      IDLE_S = 0.6
      LOADED_S = 2.0

      # Idle sleeps end by then, however few there were.
      IDLE_MAX_S = 5

      THREADS_COUNT = 3
      WORK_NS = Units::NS_PER_MS
      REST_S = 0.002

      # Fewer tell nothing of the tail.
      SAMPLES_MIN = 20

      module_function

      # @param samples_count [Integer] the most
      # @return [Sample]
      def idle(samples_count: SAMPLES_COUNT)
        until_ns = Clock.now_ns + (IDLE_MAX_S * Units::NS_PER_S)
        code = "PumaTuner::Calibrate::Wakeups.latenesses_ns(#{Integer(samples_count)}, #{until_ns})"
        ensure_enough(FreshRuby.numbers(code, expected_s: IDLE_MAX_S), [SAMPLES_MIN, samples_count].min)
      end

      # @param processes_count [Integer] that compute at the same time
      # @param duration_s [Numeric]
      # @return [Sample]
      def loaded(processes_count, duration_s: LOADED_S)
        expected_s = FreshRuby::LEAD_S + duration_s
        until_ns = Clock.now_ns + (expected_s * Units::NS_PER_S).round
        code = "PumaTuner::Calibrate::Wakeups.waits_for_a_core_ns(#{until_ns})"
        ensure_enough(FreshRuby.numbers_of_each(processes_count, expected_s:) { code }.first, SAMPLES_MIN)
      end

      def ensure_enough(values_ns, least_count)
        return Sample.new(values_ns:) if values_ns.size >= least_count
        raise InvalidMeasurement, "a thread that slept for milliseconds woke up only #{values_ns.size} times in " \
          "seconds. The machine is too busy to be calibrated; run it again when it is quiet."
      end

      # Runs in the fresh process.
      # @return [Array<Integer>]
      def latenesses_ns(samples_count, until_ns)
        refuse_slack
        random = Random.new(1)
        all_ns = []
        all_ns << lateness_ns(0.001 + random.rand * 0.001) while all_ns.size < samples_count && Clock.now_ns < until_ns
        all_ns
      end

      # Runs in one of the fresh processes.
      # @return [Array<Integer>]
      def waits_for_a_core_ns(until_ns)
        refuse_slack
        Array.new(THREADS_COUNT) { Thread.new { waits_of_a_thread_ns(until_ns) } }.flat_map(&:value)
      end

      def waits_of_a_thread_ns(until_ns)
        File.open("/proc/thread-self/schedstat") do |schedstat|
          all_ns = []
          while Clock.now_ns < until_ns
            compute(WORK_NS)
            before_ns = run_queue_wait_ns(schedstat)
            sleep(REST_S)
            all_ns << run_queue_wait_ns(schedstat) - before_ns
          end
          all_ns
        end
      end

      # The second of its numbers.
      def run_queue_wait_ns(schedstat) = schedstat.pread(64, 0).split[1].to_i

      # It ends by CPU time, so that it is the same work beside others.
      def compute(work_ns)
        began_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
        nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) - began_ns < work_ns
      end

      # Older kernels keep it.
      def refuse_slack
        File.write("/proc/self/timerslack_ns", "1")
      rescue SystemCallError
        nil
      end

      # @return [Integer]
      def lateness_ns(asked_s)
        began_ns = Clock.now_ns
        sleep(asked_s)
        [Clock.now_ns - began_ns - (asked_s * 1_000_000_000).round, 0].max
      end
    end
  end
end
