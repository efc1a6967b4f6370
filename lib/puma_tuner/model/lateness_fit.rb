# frozen_string_literal: true

module PumaTuner
  module Model
    # Finds how much longer a mean wait took because its thread then had to wait for a core, which the simulation has by
    # itself.
    #
    # The kernel counts how long pool threads could have run and had no core. What of it was not with the GVL was at the
    # end of waits, and some of it on the way to the GVL, so that a wait was late by as much at most. How much it was is
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
      # @return [Float] nanoseconds of a mean wait
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

      # @return [Float] of a mean wait, by the kernel's count
      def most_ns(recording)
        threads = recording.threads
        without_core = threads.map(&:run_queue_wait_ns)
        preempted = threads.map { |thread| thread.budget.preempted_ns }
        waits_count = weighed(recording, own: true) { |trace| DemandFit.releases_count(trace) }
        return 0.0 if waits_count.zero? || threads.empty? || [*without_core, *preempted].include?(nil)
        [(without_core.sum - preempted.sum) / waits_count, 0.0].max
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
      #
      # @param own [Boolean] whether the recording's own mix counts
      def weighed(recording, own: false, &of_trace)
        recording.endpoints.sum(0.0) do |endpoint|
          next 0.0 if endpoint.traces.empty?
          weight = own ? endpoint.requests_count : @weights[endpoint.name].to_i
          weight * endpoint.traces.sum(&of_trace).fdiv(endpoint.traces.size)
        end
      end
    end
  end
end
