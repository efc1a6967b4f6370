# frozen_string_literal: true

require "accuracy_spin"

module Accuracy
  # The clocks that truth comes from: the kernel's and Ruby's own, none of a tool's. For one thread, from `open` to `close`.
  class Stopwatch
    # @return [Integer] of the thread, or the whole process (others_cpu_ns: less the thread), from open to close
    attr_reader :wall_ns, :cpu_clock_ns, :others_cpu_ns, :run_queue_ns, :gc_ns, :gc_doubt_ns

    # @return [Hash{Symbol => Integer}] part => time in it that the workload vouches for
    attr_reader :waits

    def initialize
      @waits = Hash.new(0)
    end

    def open
      @gc = gc_clocks
      @opening = AccuracySpin.opening
    end

    def close
      differences = AccuracySpin.closing.zip(@opening).map { |after, before| after - before }
      @wall_ns, @cpu_clock_ns, process_cpu_ns, @run_queue_ns = differences
      raise "this kernel does not say how long a thread waits for a core (/proc/thread-self/schedstat)" if @opening.last.negative?
      @others_cpu_ns = [process_cpu_ns - @cpu_clock_ns, 0].max
      @gc_ns, phases_ns = gc_clocks.zip(@gc).map { |after, before| after - before }
      @gc_doubt_ns = (@gc_ns - phases_ns).abs
    end

    # Times a wait: the block's wall time less the CPU it took.
    def during(part)
      began_ns, cpu_ns = now_ns, cpu_now_ns
      result = yield
      @waits[part] += now_ns - began_ns - (cpu_now_ns - cpu_ns)
      result
    end

    # A wait whose length is known otherwise.
    def vouch(part, ns) = @waits[part] += ns

    # @return [Integer] the system's clock, the same in all processes
    def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

    private

    def cpu_now_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

    # Ruby counts the CPU time of its collector twice, in all and by phase (in ms): how far the two are apart is the doubt.
    # It is CPU of the whole process, so right as long as one thread works.
    def gc_clocks = [GC.total_time, GC.stat.values_at(:marking_time, :sweeping_time).sum * 1_000_000]
  end
end
