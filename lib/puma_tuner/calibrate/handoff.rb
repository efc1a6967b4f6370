# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Measures the time from one thread's release of the GVL to the next one's first instruction: two threads do nothing
    # but pass it on. Most of it is waking up an idle core. Where other processes keep all others busy, both threads
    # share one, and it is a quarter: 4.4 µs instead of 16.
    module Handoff
      RUNS_COUNT = 21
      PASSES_COUNT = 2_000

      # The median of so many parts of a run stands for it. A quota of half a core, which stops both threads for 50 ms
      # again and again, is in few of them; the mean of a whole run was 16 to 22 µs with it, and 8 without.
      PARTS_COUNT = 10
      EXPECTED_S = 1.0

      # The others are kept busy for so long: longer than it takes.
      BUSY_S = 2.0

      module_function

      # Measures with the other cores busy.
      #
      # @param spinners [Spinners]
      # @param cores_count [Integer] that can be busy together
      # @return [Sample]
      def busy(spinners, cores_count, **options)
        return call(**options) if cores_count == 1
        spinners.while_busy(cores_count - 1, BUSY_S) { call(**options) }
      end

      # @param runs_count [Integer]
      # @param ruby [String] path of the executable
      # @return [Sample] a value for each run
      def call(runs_count: RUNS_COUNT, ruby: RbConfig.ruby)
        Sample.new(values_ns: FreshRuby.numbers("Array.new(#{Integer(runs_count)}) { " \
          "PumaTuner::Calibrate::Handoff.run_ns }", expected_s: EXPECTED_S, ruby:))
      end

      # Runs in the fresh process.
      # @return [Integer]
      def run_ns = Array.new(PARTS_COUNT) { mean_ns(PASSES_COUNT / PARTS_COUNT) }.sort[PARTS_COUNT / 2]

      # Each pass by one thread is answered by a pass of the other: two switches.
      # @return [Integer]
      def mean_ns(passes_count)
        over = false
        begun = false
        other = Thread.new do
          begun = true
          Thread.pass until over
        end
        Thread.pass until begun
        began_ns = Clock.now_ns
        passes_count.times { Thread.pass }
        (Clock.now_ns - began_ns) / (2 * passes_count)
      ensure
        over = true
        other&.join
      end
    end
  end
end
