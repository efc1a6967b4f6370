# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # The timer that counts a thread's slice. A thread that never rests has the GVL;
    # another wakes up and wants it, and gets it when the first one's slice of ten ticks
    # is over. The first one's count begins with that wish, so the wait is the slice.
    module Tick
      SAMPLES_COUNT = 8

      # Ruby's slice is 100 ms unless RUBY_THREAD_TIMESLICE says otherwise (thread_pthread.c).
      TICKS_PER_SLICE = 10
      EXPECTED_S_EACH = 0.32

      module_function

      # @param samples_count [Integer]
      # @param ruby [String] path of the executable
      # @return [Sample] of ticks
      def call(samples_count: SAMPLES_COUNT, ruby: RbConfig.ruby)
        waits_ns = FreshRuby.numbers("PumaTuner::Calibrate::Tick.waits_ns(#{Integer(samples_count)})",
          expected_s: samples_count * EXPECTED_S_EACH, ruby:)
        Sample.new(values_ns: waits_ns.map { |ns| ns / TICKS_PER_SLICE })
      end

      # Runs in the fresh process. The sleeps differ, so that the timer's phase does.
      # @return [Array<Integer>]
      def waits_ns(samples_count)
        random = Random.new(1)
        # This is not `loop`, which is a block, and has a method of its own.
        spinner = Thread.new { nil while true } # standard:disable Style/InfiniteLoop
        Array.new(samples_count) { Wakeups.lateness_ns(0.15 + random.rand * 0.1) }
      ensure
        spinner&.kill&.join
      end
    end
  end
end
