# frozen_string_literal: true

module PumaTuner
  module Model
    # Finds how much longer a wait took because its thread then had to wait for a core, which the simulation has by
    # itself. A wait that was shorter than that was nothing but lateness.
    #
    # The kernel counts how long pool threads could have run and had no core. What of it was not with the GVL was at the
    # end of waits, and some of it on the way to the GVL, so that all waits together were late by as much at most. Short
    # ones, such as reads of a cached file, can't have their share of it: most are on time, and a few are late by what
    # another thread computes meanwhile. So short ones lose all they have, and longer ones the rest. How much it was is
    # seen beside a recording at one thread, in which next to nobody waits for a core: waits are late by what they take
    # longer than there. Of five apps whose waits were known (2 to 6 ms) the kernel's count alone took 0.2 to 1.7 ms of
    # them too much.
    #
    # A call that comes back at once may be late by so much that it seems to have slept. At one thread 0.2 of the 171
    # waits of a request that read 63 files were of 50 µs and more, at 2x5 there were 23. So of a recording's waits for
    # IO no greater share is taken to have slept than at one thread, the longest, and all others together took no longer
    # than such calls do there, as far as the kernel counts so much. (A share, as one recording has longer requests than
    # the other by chance. Where it counts less, an outside service that is slower under load may have slept after all.)
    # What was too short to sleep in loses the rest in any case: it is what it takes to wake the next thread in line for
    # the GVL, which the simulation has by itself. (Such calls of files_many took 2.5 µs at 1x1, and 10.4 at 1x5.)
    class LatenessFit
      # What is known of a recording's waits.
      #
      # late_ns: by which each was late, unless it was shorter; limit_ns: shorter waits for IO were calls that came back
      #   at once; call_ns: the most that these took by themselves; short_ns: and those too short to sleep in
      Lateness = Data.define(:late_ns, :limit_ns, :call_ns, :short_ns) do
        # @return [Boolean] whether a wait was a call that came back at once, however long it seems to have taken
        def call?(kind, ns) = ns < limit_ns && Demand::IO_KINDS.include?(kind)

        # @return [Numeric] nanoseconds that a wait would have taken with a core at hand
        def own_ns(kind, ns)
          return [ns - late_ns, 0].max unless call?(kind, ns)
          [ns, call_ns, *(short_ns unless Demand.sleeps?(kind, ns))].min
        end

        # @return [Numeric] the same of a wait for IO that was long enough to sleep in; 0 of any other
        def slept_ns(kind, ns)
          own_ns = own_ns(kind, ns)
          seen_ns = call?(kind, ns) ? own_ns : ns
          Demand.sleeps?(kind, seen_ns) ? own_ns : 0
        end
      end

      NONE = Lateness.new(late_ns: 0, limit_ns: 0, call_ns: 0, short_ns: 0)

      # How IO waits at one thread.
      #
      # slept_ratio: share of its waits that are long enough to sleep in; wait_ns: a mean one of these, less what it was
      #   late, nil without any; call_ns: a mean shorter one
      Alone = Data.define(:slept_ratio, :wait_ns, :call_ns)

      # A wait of a recording, and for how many of its waits it stands.
      Wait = Data.define(:kind, :ns, :count)

      # @param recordings [Array<Probe::Observation>] of one app; the first has the mix of requests
      def initialize(recordings)
        @recordings = recordings
        @lateness, @waits = {}.compare_by_identity, {}.compare_by_identity
        @weights = recordings.first.endpoints.to_h { |endpoint| [endpoint.name, endpoint.requests_count] }
      end

      # @param recording [Probe::Observation] one of these
      # @return [Lateness]
      def of(recording) = @lateness[recording] ||= lateness(recording)

      private

      def lateness(recording)
        waits = waits(recording)
        sum_ns = sum_ns(recording)
        return NONE.with(late_ns: most_ns(waits, sum_ns)) if alone?(recording) || alone.nil?
        limit_ns = limit_ns(waits)
        calls, others = split(waits, limit_ns)
        call_ns, left_ns = cut(calls, sum_ns)
        short_ns, = cut(split(waits, Demand::SLEPT_NS).first, Float::INFINITY)
        NONE.with(late_ns: late_ns(recording, limit_ns, most_ns(others, left_ns)), limit_ns:, call_ns:, short_ns:)
      end

      def late_ns(recording, limit_ns, most_ns)
        return most_ns unless alone.wait_ns
        (mean_wait_ns(recording, limit_ns).to_f - alone.wait_ns).clamp(0.0, most_ns)
      end

      def alone?(recording) = recording.topology&.threads_count == 1

      # @return [Alone, nil] nil without such a recording
      def alone
        return @alone if defined?(@alone)
        recordings = @recordings.select { |recording| alone?(recording) && io_count(recording).positive? }
        @alone = (alone_of(recordings) unless recordings.empty?)
      end

      def alone_of(recordings)
        waits_ns = recordings.filter_map { |one| mean_wait_ns(one)&.-(most_ns(waits(one), sum_ns(one))) }
        calls, = split(recordings.flat_map { |one| waits(one) }, Demand::SLEPT_NS)
        Alone.new(slept_ratio: recordings.sum { |one| slept_count(one) } / recordings.sum { |one| io_count(one) },
          wait_ns: (waits_ns.sum / waits_ns.size unless waits_ns.empty?),
          call_ns: calls.empty? ? 0.0 : calls.sum { |wait| wait.ns * wait.count } / calls.sum(&:count))
      end

      # @return [Array(Array<Wait>, Array<Wait>)] waits for IO that are shorter, and all others
      def split(waits, limit_ns)
        shape = NONE.with(limit_ns:)
        waits.partition { |wait| shape.call?(wait.kind, wait.ns) }
      end

      # @return [Numeric] what as great a share of the waits for IO as slept at one thread are at least as long as; so
      #   long at least that one can sleep
      def limit_ns(waits)
        return Float::INFINITY if alone.slept_ratio.zero?
        io = waits.select { |wait| Demand::IO_KINDS.include?(wait.kind) }
        left_count = alone.slept_ratio * io.sum(&:count)
        last = io.reverse.find { |wait| (left_count -= wait.count) <= wait.count / 2 }
        [last ? last.ns : 0, Demand::SLEPT_NS].max
      end

      # Cuts the longest, until all together take as long as at one thread, or have lost the sum.
      #
      # @return [Array(Float, Numeric)] to what length, and what is left of the sum
      def cut(calls, sum_ns)
        all_ns = calls.sum { |wait| wait.ns * wait.count }
        lost_ns = (all_ns - alone.call_ns * calls.sum(&:count)).clamp(0, sum_ns)
        [most_ns(calls, all_ns - lost_ns), sum_ns - lost_ns]
      end

      # @return [Float] of a wait, if all together have so much: what the sum leaves for those that are not shorter
      def most_ns(waits, left_ns)
        left_count = waits.sum(&:count)
        waits.each do |wait|
          return left_ns / left_count if wait.ns * left_count >= left_ns
          left_ns -= wait.ns * wait.count
          left_count -= wait.count
        end
        waits.empty? ? 0.0 : waits.last.ns.to_f
      end

      # @return [Array<Wait>] waits that may be late, shortest first
      def waits(recording)
        @waits[recording] ||= recording.endpoints.flat_map { |endpoint|
          count = endpoint.requests_count.fdiv(endpoint.traces.size)
          endpoint.traces.flat_map do |trace|
            DemandFit.waits(trace).map { |kind, ns| Wait.new(kind:, ns:, count:) }
          end
        }.sort_by(&:ns)
      end

      # @return [Integer] of all waits together, by the kernel's count
      def sum_ns(recording)
        without_core = recording.threads.map(&:run_queue_wait_ns)
        preempted = recording.threads.map { |thread| thread.budget.preempted_ns }
        return 0 if [*without_core, *preempted].include?(nil)
        [without_core.sum - preempted.sum, 0].max
      end

      # @return [Float, nil] of those long enough to sleep in; nil without any
      def mean_wait_ns(recording, limit_ns = Demand::SLEPT_NS)
        count = slept_count(recording, limit_ns)
        weighed(recording) { |trace| slept_ns(trace, limit_ns).sum } / count if count.positive?
      end

      def slept_count(recording, limit_ns = Demand::SLEPT_NS)
        weighed(recording) { |trace| slept_ns(trace, limit_ns).size }
      end

      def io_count(recording)
        weighed(recording) { |trace| trace.steps.each_slice(2).count { |kind, _| Demand::IO_KINDS.include?(kind) } }
      end

      # @return [Array<Integer>] of waits for IO that are not shorter
      def slept_ns(trace, limit_ns)
        trace.steps.each_slice(2).filter_map { |kind, ns| ns if Demand.sleeps?(kind, ns) && ns >= limit_ns }
      end

      # An endpoint's traces stand for its own requests, as a rare endpoint has as many of them as a frequent one.
      def weighed(recording, &of_trace)
        recording.endpoints.sum(0.0) do |endpoint|
          next 0.0 if endpoint.traces.empty?
          @weights[endpoint.name].to_i * endpoint.traces.sum(&of_trace).fdiv(endpoint.traces.size)
        end
      end
    end
  end
end
