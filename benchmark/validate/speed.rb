# frozen_string_literal: true

require_relative "apps/steps"

module Validation
  # How fast the machine computes just now. A virtual core that shares a real one with a stranger's loses up to two fifths of its
  # speed for seconds at a time, and no count of the kernel's shows it: the loop of the workloads then takes as much longer.
  #
  # A thread of ours runs the loop for half a millisecond ten times a second; what it takes of the machine is a quarter of a per
  # cent of two cores. By the thread's CPU clock, so that waiting for a core does not count.
  module Speed
    TURNS_COUNT = 25_000
    PAUSE_S = 0.1

    # Between a recording and a cell, and between a recording and the machine's best. A cell is predicted for the machine as fast
    # as it was then; beyond this, memory and caches will not have slowed down as much as the loop has. (On the machine that this was
    # written on, neighbours take 20 to 40 % for minutes; with less tolerance two thirds of the cells would not count.)
    TOLERANCE_RATIO = 0.35

    # Of the samples for the machine's best. The rest may have met somebody.
    BEST_RATIO = 0.33

    class << self
      # @yield what the speed is wanted of
      # @return [Array(Object, Float)] what the block returned, and turns of the loop to a millisecond on average
      def during
        times_ns = []
        sampler = Thread.new { loop { sleep PAUSE_S and times_ns << once_ns } }
        result = yield
        [result, mean(times_ns.empty? ? [once_ns] : times_ns)]
      ensure
        sampler&.kill&.join
      end

      # @return [Float] turns to a millisecond when nobody interferes, after pauses like those under load
      def best(samples_count: 30)
        times_ns = Array.new(samples_count) { sleep(PAUSE_S) && once_ns }
        mean(times_ns.min((samples_count * BEST_RATIO).ceil))
      end

      # @param now [Float] turns to a millisecond
      # @param wanted [Float]
      # @param then_words [String] what it is held against
      # @return [String, nil] why they can't be compared, as a clause
      def difference(now, wanted, then_words)
        ratio = now / wanted - 1
        return if ratio.abs <= TOLERANCE_RATIO
        "the machine was #{PumaTuner::Units.percent(ratio.abs)} #{ratio.negative? ? "slower" : "faster"} than #{then_words}"
      end

      private

      def once_ns
        began_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
        ValidationSteps.burn(TURNS_COUNT)
        Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) - began_ns
      end

      def mean(times_ns) = TURNS_COUNT * times_ns.size * PumaTuner::Units::NS_PER_MS.fdiv(times_ns.sum)
    end
  end
end
