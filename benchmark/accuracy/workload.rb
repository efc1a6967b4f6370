# frozen_string_literal: true

require_relative "stopwatch"
require_relative "truth"

module Accuracy
  # Work whose truth is known: done by one thread, the watched one, with others beside it where it takes them.
  # A subclass says what it does (`work`), how its truth is to be read (OFF_CORE, `doubts`), and registers itself by its name.
  class Workload
    MS = 1_000_000

    # The watched thread has the GVL to itself.
    OFF_CORE = :preempted

    # Timers may be late by the kernel's slack of 50 us, and a core has to wake up.
    WAKE_UP_NS = 100_000

    # @param scale [Float] of the usual length
    def initialize(scale: 1.0)
      @scale = scale
      @watch = Stopwatch.new
      @gate = Queue.new
    end

    # Other processes; before any tool is loaded, which would follow them.
    def start_processes
    end

    # Other threads, after the tool was loaded; they wait for the gate.
    def start_threads
    end

    # What is timed, on the watched thread. It and what is beside it have different cores, where there are two: left to the
    # kernel, it at times wakes up behind another thread, 10 ms late, which is neither a wait nor preemption.
    def run
      AccuracySpin.keep_first
      @watch.open
      @gate.close
      work
      @watch.close
    end

    # What was started ends.
    def stop
      @stopped = true
    end

    # @return [Truth] after the run
    def truth = Truth.from(@watch, off_core: self.class::OFF_CORE, doubts:)

    private

    # A collection that loses its core may be called gc or preempted, and what is then not gc is cpu.
    # A thread that is woken competes for a core for a moment, which belongs to its wait as much as to preemption; where others
    # run meanwhile it may also have waited for their GVL, for no longer than they computed.
    def doubts
      core_ns, others_ns = @watch.run_queue_ns, @watch.others_cpu_ns
      collector_ns = [core_ns, @watch.gc_ns].min + @watch.gc_doubt_ns
      waits = @watch.waits.keys.to_h { |part| [part, core_ns + others_ns] }
      {gvl_wait: others_ns, preempted: core_ns, gc: collector_ns, cpu: collector_ns}.merge(waits)
    end

    def ms(number) = (number * MS * @scale).round

    def sleep_ns(ns) = sleep(ns / 1e9)

    # In Ruby, until this thread has had so much CPU time.
    def spin(ns)
      end_ns = cpu_now_ns + ns
      number = 0
      500.times { number += 1 } while cpu_now_ns < end_ns
    end

    def cpu_now_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

    def beside(&work)
      Thread.new do
        AccuracySpin.keep_last
        @gate.pop
        work.call
      end
    end
  end
end
