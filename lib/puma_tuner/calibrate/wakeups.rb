# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # How late a sleeping thread gets a core: how much longer than asked a short sleep lasts, on the machine as it is, and beside
    # processes that keep all cores busy. The kernel's slack for timers (50 µs unless set) is in it.
    module Wakeups
      SAMPLES_COUNT = 320

      # The longest count most, and are rare.
      LOADED_SAMPLES_COUNT = 640

      # So many values are kept.
      KEPT_COUNT = 64

      # Sleeps of 1 to 2 ms; beside busy processes a sample takes several.
      IDLE_S = 0.6
      LOADED_S = 2.0

      # Fewer tell nothing of the tail.
      SAMPLES_MIN = 20

      # Until the fresh process has begun.
      LEAD_NS = 100 * Units::NS_PER_MS

      module_function

      # @param samples_count [Integer] the most
      # @return [Sample]
      def idle(samples_count: SAMPLES_COUNT) = sample(samples_count, now_ns + (5 * Units::NS_PER_S))

      # @param burners [Burners]
      # @param cores_count [Integer] to be kept busy
      # @param duration_s [Numeric]
      # @return [Sample]
      def loaded(burners, cores_count, samples_count: LOADED_SAMPLES_COUNT, duration_s: LOADED_S)
        began_ns = now_ns + LEAD_NS
        until_ns = began_ns + (duration_s * Units::NS_PER_S).round
        burners.while_busy(cores_count, began_ns, until_ns) { sample(samples_count, until_ns) }
      end

      def sample(samples_count, until_ns)
        sample = Sample.new(values_ns: FreshRuby.numbers("PumaTuner::Calibrate::Wakeups.latenesses_ns(#{Integer(samples_count)}, #{until_ns})",
          expected_s: (until_ns - now_ns).fdiv(Units::NS_PER_S)))
        return sample if sample.values_ns.size >= [SAMPLES_MIN, samples_count].min
        raise VoidMeasurement, "a thread that slept for milliseconds woke up only #{sample.values_ns.size} times in seconds. " \
          "The machine is too busy to be calibrated; run it again when it is quiet."
      end

      # In the fresh process.
      # @return [Array<Integer>]
      def latenesses_ns(samples_count, until_ns)
        random = Random.new(1)
        all_ns = []
        all_ns << lateness_ns(0.001 + random.rand * 0.001) while all_ns.size < samples_count && now_ns < until_ns
        all_ns
      end

      # @return [Integer]
      def lateness_ns(asked_s)
        began_ns = now_ns
        sleep(asked_s)
        [now_ns - began_ns - (asked_s * 1_000_000_000).round, 0].max
      end

      def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    end
  end
end
