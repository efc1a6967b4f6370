# frozen_string_literal: true

module PumaTuner
  # For durations and limits, the same in all processes; and for what this process uses.
  module Clock
    # @return [Float] seconds
    def self.now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # @return [Integer] nanoseconds
    def self.now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

    # @return [Integer] nanoseconds of CPU that all threads of this process have used, and none of its children
    def self.cpu_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  end
end
