# frozen_string_literal: true

require_relative "../workload"

module Accuracy
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
end
