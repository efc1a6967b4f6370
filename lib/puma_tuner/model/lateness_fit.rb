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
    class LatenessFit
      # @param recordings [Array<Probe::Observation>] of one app; the first has the mix of requests
      def initialize(recordings)
        @recordings = recordings
        @late_ns = {}.compare_by_identity
        @weights = recordings.first.endpoints.to_h { |endpoint| [endpoint.name, endpoint.requests_count] }
      end

      # @param recording [Probe::Observation] one of these
      # @return [Float] nanoseconds by which each wait was late, unless it was shorter
      def of(recording) = @late_ns[recording] ||= late_ns(recording)

      private

      def late_ns(recording)
        most_ns = most_ns(recording)
        return most_ns if alone?(recording) || alone_ns.nil?
        (mean_wait_ns(recording).to_f - alone_ns).clamp(0.0, most_ns)
      end

      def alone?(recording) = recording.topology&.threads_count == 1

      # @return [Float, nil] a mean wait at one thread, less what it was late; nil without such a recording
      def alone_ns
        return @alone_ns if defined?(@alone_ns)
        waits_ns = @recordings.select { |recording| alone?(recording) }
          .filter_map { |recording| mean_wait_ns(recording)&.-(most_ns(recording)) }
        @alone_ns = (waits_ns.sum / waits_ns.size unless waits_ns.empty?)
      end

      # @return [Float] of a wait, by the kernel's count: what the sum leaves for those that are not shorter
      def most_ns(recording)
        left_ns = sum_ns(recording)
        waits = waits(recording)
        left_count = waits.sum(&:last)
        waits.each do |ns, count|
          return left_ns / left_count if ns * left_count >= left_ns
          left_ns -= ns * count
          left_count -= count
        end
        waits.empty? ? 0.0 : waits.last.first.to_f
      end

      # @return [Array<Array(Integer, Float)>] waits that may be late, shortest first: nanoseconds, and for how many of
      #   the recording's waits it stands
      def waits(recording)
        recording.endpoints.flat_map { |endpoint|
          count = endpoint.requests_count.fdiv(endpoint.traces.size)
          endpoint.traces.flat_map { |trace| DemandFit.waits_ns(trace).map { |ns| [ns, count] } }
        }.sort_by(&:first)
      end

      # @return [Integer] of all waits together, by the kernel's count
      def sum_ns(recording)
        without_core = recording.threads.map(&:run_queue_wait_ns)
        preempted = recording.threads.map { |thread| thread.budget.preempted_ns }
        return 0 if [*without_core, *preempted].include?(nil)
        [without_core.sum - preempted.sum, 0].max
      end

      # @return [Float, nil] of those long enough to sleep in; nil without any
      def mean_wait_ns(recording)
        count = weighed(recording) { |trace| slept_ns(trace).size }
        weighed(recording) { |trace| slept_ns(trace).sum } / count if count.positive?
      end

      def slept_ns(trace)
        trace.steps.each_slice(2).filter_map { |kind, ns| ns if Demand.sleeps?(kind, ns) }
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
