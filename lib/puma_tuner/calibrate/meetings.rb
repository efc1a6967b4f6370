# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Measures how often threads of several processes share a core while another core is idle.
    #
    # In as many processes as there are cores, three threads each compute for 2 ms and sleep for 4 to 8, so that a
    # process wants a core for some two thirds of the time. How long it wanted one and had none is told by its own
    # clocks: from when the first of its threads was to wake up until none has anything left to do, less its CPU time. A
    # process alone has such a time, too: idle cores wake up, and the GVL is handed over. What it is more beside the
    # others is that of meetings. Held against it is what it would be if a thread came to each core alike, and waited
    # for the end of the burst there.
    module Meetings
      THREADS_COUNT = 3
      WORK_NS = 2 * Units::NS_PER_MS
      RESTS_S = (0.004..0.008)
      DURATION_S = 2.0

      # What one process tells.
      #
      # wanted_ns: how long it wanted a core; had_ns: its CPU in that time; begun_count: how often it began to want one
      Told = Data.define(:wanted_ns, :had_ns, :begun_count) do
        # @return [Float] nanoseconds without a core, each time that it wanted one
        def without_ns = [wanted_ns - had_ns, 0].max.fdiv([begun_count, 1].max)
      end

      module_function

      # @return [Numeric] seconds that it takes
      def expected_s(duration_s) = 2 * (FreshRuby::LEAD_S + duration_s)

      # @param processes_count [Integer] that compute at the same time, two at least
      # @param duration_s [Numeric] of each of two measurements
      # @param cores_count [Integer] that they may use
      # @return [Float] how often they meet, over how often if a thread came to each core alike; 0.0 where they never
      #   do, and 1.0 at most: what is more is of other causes, such as neighbours on the same cores
      def ratio(processes_count, cores_count:, duration_s: DURATION_S)
        alone = told(1, duration_s)
        beside = told(processes_count, duration_s)
        (excess_ns(alone, beside) / by_chance_ns(beside, cores_count, duration_s)).clamp(0.0, 1.0).round(2)
      end

      # @return [Float] nanoseconds
      def excess_ns(alone, beside) = [mean(beside, &:without_ns) - alone.first.without_ns, 0.0].max

      # The others' threads are on so many cores, and whoever meets one waits for half a burst.
      #
      # @return [Float] nanoseconds, each time that a process wants a core
      def by_chance_ns(beside, cores_count, duration_s)
        busy_cores = (beside.size - 1) * mean(beside, &:had_ns) / (duration_s * Units::NS_PER_S)
        busy_cores / cores_count * WORK_NS / 2
      end

      def mean(all, &) = all.sum(&).fdiv(all.size)

      # @return [Array<Told>] of each process
      def told(processes_count, duration_s)
        until_ns = Clock.now_ns + ((FreshRuby::LEAD_S + duration_s) * Units::NS_PER_S).round
        from_ns = until_ns - (duration_s * Units::NS_PER_S).round
        FreshRuby.numbers_of_each(processes_count, expected_s: expected_s(duration_s)) { |number|
          "PumaTuner::Calibrate::Meetings.count(#{number}, #{from_ns}, #{until_ns})"
        }.map { |numbers| Told.new(*numbers) }
      end

      # Runs in one of the fresh processes.
      # @param number [Integer] of the process, so that no two rest alike
      # @return [Array<Integer>] of Told
      def count(number, from_ns, until_ns)
        Wakeups.refuse_slack
        turns = Array.new(THREADS_COUNT) do |index|
          random = Random.new(number * THREADS_COUNT + index)
          Thread.new { turns_of_a_thread(random, from_ns, until_ns) }
        end.flat_map(&:value)
        wanted_ns, pieces_count = wanted(turns)
        [wanted_ns, turns.sum(&:last), pieces_count]
      end

      # @return [Array<Array(Integer, Integer, Integer)>] when it was to wake up, when it had computed, and its CPU
      def turns_of_a_thread(random, from_ns, until_ns)
        turns = []
        while (now_ns = Clock.now_ns) < until_ns
          rest_s = random.rand(RESTS_S)
          began_cpu_ns = cpu_ns
          sleep(rest_s)
          Wakeups.compute(WORK_NS)
          turns << [now_ns + (rest_s * Units::NS_PER_S).round, Clock.now_ns, cpu_ns - began_cpu_ns]
        end
        turns.select { |due_ns, _, _| due_ns >= from_ns }
      end

      def cpu_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

      # @return [Array(Integer, Integer)] nanoseconds in which any turn was due and not over, and in how many pieces
      def wanted(turns)
        sum_ns = pieces_count = 0
        reached_ns = -Float::INFINITY
        turns.sort.each do |due_ns, over_ns, _|
          pieces_count += 1 if due_ns > reached_ns
          sum_ns += [over_ns - [due_ns, reached_ns].max, 0].max
          reached_ns = [reached_ns, over_ns].max
        end
        [sum_ns, pieces_count]
      end
    end
  end
end
