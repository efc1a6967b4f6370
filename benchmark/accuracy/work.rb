# frozen_string_literal: true

require "accuracy_spin"
require "socket"
require_relative "truth"

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

  # Work whose truth is known: done by one thread, the watched one, with others beside it where it takes them.
  # A subclass says what it does (`work`) and how its truth is to be read (OFF_CORE, `doubts`); Workloads lists it.
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

  # CPU and nothing else.
  class RubySpin < Workload
    private

    def work = spin(ms(600))
  end

  # One call that neither allocates nor looks at interrupts.
  class CSpin < Workload
    private

    def work = AccuracySpin.with_gvl(ms(600))
  end

  # What compression and password hashing do: CPU, though the GVL is free.
  class CSpinWithoutGvl < Workload
    private

    def work = 6.times { AccuracySpin.without_gvl(ms(100)) }

    # While the GVL is free, being off a core is neither preempted (which has it) nor a wait of its own doing.
    def doubts
      off_core_ns = @watch.wall_ns - @watch.cpu_clock_ns
      super.merge(io: off_core_ns, preempted: off_core_ns)
    end
  end

  class Sleeping < Workload
    private

    def work = 12.times { @watch.during(:sleep) { sleep_ns(ms(50)) } }
  end

  # Waits for something that another thread does. Whoever does it stamps it just before, which ends the wait: what follows until
  # the watched thread goes on is the GVL's and the core's.
  class LockWait < Workload
    OFF_CORE = :contended

    def stop = @asked.close

    private

    # @yieldreturn [Integer] when the other one did it
    def until_stamped
      began_ns = @watch.now_ns
      stamp_ns = yield
      @watch.vouch(:lock, [stamp_ns - began_ns, 0].max)
    end

    # Falling asleep takes some CPU, and waking up a core.
    def doubts
      core_ns = @watch.run_queue_ns + WAKE_UP_NS * self.class::WAITS_COUNT
      super.merge(lock: core_ns, sleep: core_ns, gvl_wait: core_ns, preempted: core_ns)
    end
  end

  # The holder takes the Mutex when asked, says so, and sleeps on it.
  class MutexWait < LockWait
    TURNS_COUNT = 12
    WAITS_COUNT = 2 * TURNS_COUNT

    def start_threads
      @mutex, @asked, @held = Mutex.new, Queue.new, Queue.new
      beside { hold while @asked.pop }
    end

    private

    def hold
      @mutex.synchronize do
        @held << @watch.now_ns
        sleep_ns(ms(50))
        @released_ns = @watch.now_ns
      end
    end

    def work
      TURNS_COUNT.times do
        until_stamped { @asked.push(true) && @held.pop }
        until_stamped { @mutex.synchronize { @released_ns } }
      end
    end
  end

  # Half of the waits are for a Queue, half for a ConditionVariable.
  class QueueWait < LockWait
    TURNS_COUNT = 6
    WAITS_COUNT = 2 * TURNS_COUNT

    def start_threads
      @asked, @queue = Queue.new, Queue.new
      @mutex, @condition = Mutex.new, ConditionVariable.new
      beside { feed(@asked.pop) until @asked.closed? }
    end

    private

    def feed(wanted)
      return unless wanted
      sleep_ns(ms(50))
      return @queue << @watch.now_ns if wanted == :queue
      @mutex.synchronize do
        @signalled_ns = @watch.now_ns
        @condition.signal
      end
    end

    def work
      TURNS_COUNT.times do
        until_stamped { @asked.push(:queue) && @queue.pop }
        until_stamped { @asked.push(:condition) && wait_for_signal }
      end
    end

    def wait_for_signal
      @mutex.synchronize do
        @condition.wait(@mutex) until @signalled_ns
        @signalled_ns.tap { @signalled_ns = nil }
      end
    end
  end

  # A process that answers each question after a while, with the time at which it did. The clock is the same in all processes.
  class Peer
    QUESTION = "?"

    def initialize(delay_ns)
      @socket, theirs = UNIXSocket.pair
      @pid = fork { answer(theirs, delay_ns) }
      theirs.close
    end

    # Without releasing the GVL, so that the wait begins where `wait` is called.
    def ask = @socket.write_nonblock(QUESTION)

    # @return [Integer] when the response was sent, by CLOCK_MONOTONIC
    def wait = @socket.readpartial(8).unpack1("q")

    def stop
      @socket.close
      Process.wait(@pid)
    end

    private

    # The standard streams are given up, or whoever reads them would wait for this process, too.
    def answer(socket, delay_ns)
      AccuracySpin.keep_last
      @socket.close
      [$stdout, $stderr].each { |stream| stream.reopen(File::NULL) }
      while socket.read(1)
        sleep(delay_ns / 1e9)
        socket.write([Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)].pack("q"))
      end
    ensure
      exit!(0)
    end
  end

  class SocketWait < Workload
    def start_processes
      @peer = Peer.new(ms(50))
    end

    def stop = @peer.stop

    private

    def work
      12.times do
        @watch.during(:io) do
          @peer.ask
          @peer.wait
        end
      end
    end
  end

  # What a database pool that is too small does to an app. Each thread sleeps with the connection, then for a moment without,
  # or the one that gives it back would take it again at once.
  class StarvedPool < LockWait
    CONNECTED_MS = 20
    APART_MS = 4
    TURNS_COUNT = 8
    WAITS_COUNT = 3 * TURNS_COUNT

    def start_threads
      require "connection_pool"
      @pool = ConnectionPool.new(size: 1, timeout: 30) { Object.new }
      3.times { beside { use until @stopped } }
    end

    def stop
      @stopped = true
    end

    private

    # There is but one connection: whoever comes next got it by this return.
    def use
      @pool.with do
        sleep_ns(ms(CONNECTED_MS))
        @returned_ns = @watch.now_ns
      end
      sleep_ns(ms(APART_MS))
    end

    def work
      TURNS_COUNT.times do
        until_stamped { @pool.checkout && @returned_ns || 0 }
        @watch.during(:sleep) { sleep_ns(ms(CONNECTED_MS)) }
        @pool.checkin
        @watch.during(:sleep) { sleep_ns(ms(APART_MS)) }
      end
    end
  end

  # Short-lived objects beside many that live: collections that mark and sweep. On one thread, for Ruby counts the CPU time of
  # its collector for the whole process.
  class Garbage < Workload
    def start_threads
      @live = Array.new(200_000) { |number| "live #{number}" }
      # Leaves room in the heap, so that not every collection has to be one of everything.
      Array.new(200_000) { |number| "spare #{number}" }
    end

    private

    def work
      end_ns = cpu_now_ns + ms(600)
      1_000.times { |number| "short-lived #{number}" } while cpu_now_ns < end_ns
    end
  end

  # Four threads that never wait: a quarter of the time each, in slices of 100 ms.
  class Contention < Workload
    OFF_CORE = :contended

    def start_threads
      3.times { beside { spin(MS) until @stopped } }
    end

    private

    # Never shorter: nobody would lose the GVL.
    def work = spin(200 * MS)

    # The kernel also counts the moment between being given the GVL and getting a core.
    def doubts
      core_ns = @watch.run_queue_ns + WAKE_UP_NS
      {gvl_wait: core_ns, preempted: core_ns, gc: @watch.gc_doubt_ns, cpu: @watch.gc_doubt_ns}
    end
  end

  # A bit of everything, next to a thread that computes in bursts: at the end of its waits, the watched one often finds the GVL
  # taken. When a wait ended must then be known otherwise than from the watched thread.
  class Mixed < Workload
    OFF_CORE = :contended
    TURNS_COUNT = 6
    EACH_MS = 30

    def start_processes
      @peer = Peer.new(ms(EACH_MS))
    end

    def start_threads
      beside do
        until @stopped
          spin(8 * MS)
          sleep_ns(4 * MS)
        end
      end
    end

    def stop
      super
      @peer.stop
    end

    private

    def work
      TURNS_COUNT.times do
        spin(ms(EACH_MS))
        sleep_ns(ms(EACH_MS))
        @watch.vouch(:sleep, ms(EACH_MS))
        ask
      end
    end

    def ask
      @peer.ask
      asked_ns = @watch.now_ns
      @watch.vouch(:io, [@peer.wait - asked_ns, 0].max)
    end

    def doubts
      core_ns = @watch.run_queue_ns + 2 * TURNS_COUNT * WAKE_UP_NS
      {sleep: core_ns, io: core_ns, gvl_wait: core_ns, preempted: core_ns, gc: @watch.gc_doubt_ns, cpu: @watch.gc_doubt_ns}
    end
  end
end
