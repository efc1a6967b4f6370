# frozen_string_literal: true

module PumaTuner
  module Model
    # Finds how much longer a wait took because its thread then had to wait for a core, which the simulation has by
    # itself. A wait that took less than that was nothing else.
    #
    # The kernel counts how long pool threads could have run and had no core. What of it was not with the GVL was at the
    # end of waits, and some of it on the way to the GVL, so that all waits together were late by as much at most. Of
    # waits shorter than their share of it, such as reads of a cached file, only few are late, by what another thread
    # computes meanwhile, a thousand times as long: so the share is what makes the sum right. How much it was is seen
    # beside a recording at one thread, in which next to nobody waits for a core: waits are late by what they take
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

      # @return [Float] of a wait, by the kernel's count: that which the sum of all lateness leaves for those of them
      #   which are not shorter
      def most_ns(recording)
        left_ns = mean_ns(recording)
        return 0.0 if left_ns.zero?
        share = 1.0
        waits = waits(recording)
        waits.each do |ns, weight|
          return left_ns / share if ns * share >= left_ns
          left_ns -= ns * weight
          share -= weight
        end
        waits.last.first.to_f
      end

      # @return [Array<Array(Integer, Float)>] of waits that may be late: nanoseconds, shortest first, and the share of
      #   all waits that such a one stands for
      def waits(recording)
        weighed = recording.endpoints.reject { |endpoint| endpoint.traces.empty? }.flat_map do |endpoint|
          weight = endpoint.requests_count.fdiv(endpoint.traces.size)
          waits_ns = endpoint.traces.flat_map { |trace| DemandFit.waits_ns(trace) }
          waits_ns.map { |ns| [ns, weight] }
        end
        sum = weighed.sum(&:last)
        weighed.map { |ns, weight| [ns, weight / sum] }.sort_by(&:first)
      end

      # @return [Float] of a mean wait, by the kernel's count
      def mean_ns(recording)
        threads = recording.threads
        without_core = threads.map(&:run_queue_wait_ns)
        preempted = threads.map { |thread| thread.budget.preempted_ns }
        waits_count = weighed(recording, own: true) { |trace| DemandFit.waits_ns(trace).size }
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
