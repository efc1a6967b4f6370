# frozen_string_literal: true

module PumaTuner
  # CLOCK_MONOTONIC: for durations and limits, the same in all processes.
  module Clock
    # @return [Float] seconds
    def self.now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # @return [Integer] nanoseconds
    def self.now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  end
end
