# frozen_string_literal: true

require_relative "socket"

module Accuracy
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
