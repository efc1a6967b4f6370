# frozen_string_literal: true

module PumaTuner
  module Trial
    # What is tried, on whom and when: all that a decision rests on besides the readings.
    #
    # threads_count: that is tried; configured: [minimum, maximum] of those that do not try it; pids: of the workers
    # periods_count, period_s: how often the role goes to the next worker, and how long each has it
    # settle_s: of each period left out, in which pools change and requests of before end
    # memory_limit_bytes: of the control group, nil without one
    Plan = Document.define(:threads_count, :configured, :pids, :periods_count, :period_s, :settle_s,
      :memory_limit_bytes) do
      # A permutation test over fewer blocks can't tell anything from chance: 2/2^5 is more than 0.05.
      const_set(:BLOCKS_MIN, 6)

      # A period shorter than this is half settling; a longer one than that has few others beside it.
      const_set(:PERIOD_S, 10.0..60.0)

      const_set(:SETTLE_S, 3)

      # A thread more takes its stack and an arena of malloc's; a judgement, above what is seen in practice.
      const_set(:THREAD_BYTES, 32 * Units::MIB)

      # @param states [Array<Hash>] see Server#states
      # @param server [Server]
      # @return [Plan] that keeps to what the app allows, and to what its connections and memory bear
      # @raise [UsageError] where the number of threads does not
      def self.for(server, states, threads_count:, duration_s:)
        first = states.first
        why_not = too_many(threads_count, states) || too_large(server, states, threads_count)
        raise UsageError, "--threads #{threads_count}: #{why_not}" if why_not
        of(threads_count:, configured: first[:configured], pids: states.map { |one| one[:pid] }.freeze, duration_s:,
          memory_limit_bytes: server.memory_limit_bytes)
      end

      def self.too_many(threads_count, states)
        first = states.first
        if !threads_count.between?(first[:least], first[:most])
          return "the server allows #{first[:least]} to #{first[:most]} threads (tune: in PumaTuner.run)"
        end
        return "that is what is configured" if first[:configured] == [threads_count, threads_count]
        connections_count = states.filter_map { |one| one[:connections_count] }.min
        return unless connections_count && threads_count > connections_count
        "a process has #{Units.counted(connections_count, "database connection")}, and threads that find none " \
          "would wait; raise `pool` (`max_connections` since Rails 8.1) first"
      end

      def self.too_large(server, states, threads_count)
        limit_bytes = server.memory_limit_bytes or return
        used_bytes = server.all_memory_bytes(states.map { |one| one[:pid] })
        return if bears?(threads_count - states.first[:configured].last, used_bytes:, limit_bytes:)
        "the server's processes use #{Units.mebibytes(used_bytes)} of #{Units.mebibytes(limit_bytes)}"
      end
      private_class_method :too_many, :too_large

      # @param more_count [Integer] threads that come, of all processes together
      # @param used_bytes [Integer, nil]
      # @param limit_bytes [Integer, nil] of the control group, nil without one
      # @return [Boolean] whether there is memory for them
      def self.bears?(more_count, used_bytes:, limit_bytes:)
        more_count <= 0 || limit_bytes.nil? || used_bytes.nil? ||
          used_bytes + more_count * self::THREAD_BYTES < limit_bytes
      end

      # @param duration_s [Numeric] of the whole trial
      # @param pids [Array<Integer>]
      # @return [Plan] in which each worker is the canary as often, as far as the time goes
      def self.of(threads_count:, configured:, pids:, duration_s:, memory_limit_bytes: nil)
        turn = (pids.size == 1) ? 4 : pids.size
        least = self::BLOCKS_MIN * ((pids.size <= 2) ? 2 : 1)
        least += -least % turn
        most = [(duration_s / self::PERIOD_S.min).floor, 1].max
        count = [(duration_s / self::PERIOD_S.max).ceil, least].max.clamp(1, most)
        count -= count % turn if count > turn
        new(threads_count:, configured:, pids:, periods_count: count, period_s: duration_s.fdiv(count),
          settle_s: [self::SETTLE_S, duration_s / count / 3.0].min, memory_limit_bytes:)
      end

      # @param pids [Array<Integer>]
      # @return [Plan] of watching for once, when all of them have a number that one has tried
      def self.of_all(threads_count, pids:, **) =
        new(threads_count:, configured: [threads_count, threads_count].freeze, pids:, periods_count: 1, **)

      def duration_s = periods_count * period_s

      # @return [Boolean] whether all workers have what is tried, so that there is nobody beside them
      def all? = configured == [threads_count, threads_count]

      # @return [Integer, nil] nil when the trial is over
      def period_at(at_s) = (at_s / period_s).floor.then { |number| number if number < periods_count }

      # A process that has no fellows is held against itself: it has both settings in turns, ABBA, so that what changes
      # steadily meanwhile hits both.
      def alone? = pids.one?

      # @param period [Integer]
      # @return [Integer, nil] the process that has the tried threads; nil where none has
      def canary(period)
        return pids[period % pids.size] unless alone?
        pids.first if [1, 2].include?(period % 4)
      end

      # @param period [Integer]
      # @return [Hash{Integer => Integer}] threads by process; all others have what is configured
      def order(period) = canary(period).then { |pid| pid ? {pid => threads_count} : {} }

      # @param readings [Array<Reading>]
      # @param period [Integer]
      # @return [Array<Reading>] that lie in it, with all pools as they should be
      def counted(readings, period)
        from_s = period * period_s + settle_s
        readings.select do |reading|
          reading.since_s >= from_s && period_at(reading.at_s) == period && obeyed?(reading, period)
        end
      end

      private

      def obeyed?(reading, period)
        canary = canary(period)
        reading.workers.all? do |worker|
          worker.threads_count == ((worker.pid == canary) ? threads_count : configured.last)
        end
      end
    end
  end
end
