# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Measures how much more CPU a burst takes because another thread of the process had the GVL before it: the kernel's
    # part in putting one to sleep and waking the other, and caches that hold what the other one needed, or nothing, on
    # a core that has just been woken.
    #
    # Two threads make bursts in turn. Each walks through its own memory, reference by reference, so that no prefetching
    # helps, and then goes to sleep and lets the other go on. Against it stands one thread that makes as many bursts
    # alone, and never sleeps. CPU by the process' clock. The two take turns within a round.
    #
    # (A read of /dev/zero between bursts does not do: where both threads share a
    # core, the one that is woken takes it before the other has lined up for the GVL,
    # and goes on alone until the kernel's slice is over: 6 switches in 2,000 bursts.)
    module SwitchCpu
      THREADS_COUNT = 2

      # Bytes that a burst touches, for a core's first, second and last cache, and how many bursts each thread makes in
      # a round: 5 to 40 ms of them.
      WORKING_SETS = {16 * 1_024 => 1_000, 256 * 1_024 => 160, 4 * 1_024 * 1_024 => 8}.freeze

      # This size stands for all in the machine's figures. It is a judgement: a burst of a web app between two queries
      # lasts some 0.1 to 1 ms.
      MIDDLE_BYTES = 256 * 1_024

      # A cache line of 64 bytes.
      LINE_SLOTS_COUNT = 8
      SLOT_BYTES = 8

      DURATION_S = 1.5

      # Spinners go on for so much longer: until the process has begun, and its last round has ended.
      SPARE_S = 1.0

      module_function

      # @return [Float] seconds, of the three conditions together
      def expected_s(duration_s = DURATION_S) = 3 * (duration_s + 0.3) + SPARE_S

      # @param spinners [Spinners]
      # @param cores_count [Integer] that can be busy together
      # @return [Array<Model::SwitchCost>] by working set
      def call(spinners, cores_count, duration_s: DURATION_S, ruby: RbConfig.ruby)
        core = Probe::Processes.allowed_cores.last
        same_core = samples(duration_s, ruby:, core:) if core && Host::Placement.binds?(core)
        idle = samples(duration_s, ruby:)
        busy = if cores_count == 1
          idle
        else
          spinners.while_busy(cores_count - 1, duration_s + SPARE_S) { samples(duration_s, ruby:) }
        end
        WORKING_SETS.keys.each_with_index.map do |bytes, index|
          Model::SwitchCost.new(working_set_bytes: bytes, same_core_ns: same_core && cost_ns(same_core[index]),
            idle_ns: cost_ns(idle[index]), busy_ns: cost_ns(busy[index]))
        end.freeze
      end

      # A cost below nothing is noise.
      def cost_ns(sample) = [sample.median_ns, 0].max

      # @return [Array<Sample>] by working set, a value for each round
      def samples(duration_s, **)
        FreshRuby.numbers("PumaTuner::Calibrate::SwitchCpu.extras_ns(#{duration_s})", expected_s: duration_s, **)
          .each_slice(WORKING_SETS.size).to_a.transpose.map { |values_ns| Sample.new(values_ns:) }
      end

      # Runs in the fresh process: as many rounds as there is time for, one at least.
      # @return [Array<Integer>] nanoseconds for each switch, all working sets
      #   of the first round, then those of the second, and so on
      def extras_ns(duration_s)
        until_ns = Clock.now_ns + (duration_s * Units::NS_PER_S).round
        sets = WORKING_SETS.map do |bytes, bursts_count|
          [Array.new(THREADS_COUNT) { |index| chain(bytes, index) }, bursts_count]
        end
        all_ns = []
        loop do
          all_ns.concat(sets.map { |chains, bursts_count| extra_ns(chains, bursts_count) })
          return all_ns if Clock.now_ns > until_ns
        end
      end

      def extra_ns(chains, bursts_count)
        count = bursts_count * chains.size
        alone_ns = cpu_ns(chains.first(1), count)
        (cpu_ns(chains, bursts_count) - alone_ns) / count
      end

      # A thread for each chain; the turn goes round.
      # @return [Integer] nanoseconds of CPU that all took
      def cpu_ns(chains, bursts_count)
        turns = chains.map { Queue.new }
        began_ns = Clock.cpu_ns
        threads = chains.zip(turns, turns.rotate).map do |chain, own, following|
          Thread.new { bursts(chain, bursts_count, own, following) }
        end
        turns.first << true
        threads.each(&:join)
        Clock.cpu_ns - began_ns
      end

      def bursts(chain, bursts_count, own, following)
        bursts_count.times do
          own.pop
          walk(chain)
          following << true
        end
      end

      def walk(chain)
        at = 0
        nil until (at = chain[at]).zero?
      end

      # A list of places in it, each of which holds the place of the next; every
      # cache line is come to once, in an order by chance.
      # @return [Array<Integer>]
      def chain(bytes, seed)
        places = (1...bytes / SLOT_BYTES / LINE_SLOTS_COUNT).map { |line| line * LINE_SLOTS_COUNT }
          .shuffle(random: Random.new(seed))
        chain = Array.new(bytes / SLOT_BYTES, 0)
        [0, *places].each_cons(2) { |place, following| chain[place] = following }
        chain
      end
    end
  end
end
