# frozen_string_literal: true

module PumaTuner
  module Load
    # The native generator's figures as an Outcome.
    class NativeOutcome
      # @param figures [Hash{Symbol => Object}] as ext/puma_tuner_load/bindings.c writes them
      # @param remarks [Array<String>] see Outcome
      # @param first_unexpected [String, nil] see Outcome
      def initialize(figures, name:, connections_count:, duration_s:, arrivals:, remarks: [], first_unexpected: nil)
        @figures = figures
        @remarks = remarks
        @first_unexpected = first_unexpected
        @name = name
        @connections_count = connections_count
        # The duration is less than was asked for when the load was stopped; neither settling nor waiting for the last
        # responses is part of it.
        @duration_ns = (figures[:elapsed_ns] - figures[:settling_ns]).clamp(1, (duration_s * Units::NS_PER_S).round)
        @arrivals = arrivals
      end

      # @return [Outcome]
      def outcome
        Outcome.new(
          generator: @name, arrivals: @arrivals.to_s, connections_count: @connections_count, duration_ns: @duration_ns,
          requests_count: @figures[:answered_count],
          drained_count: @figures[:answered_count] - @figures[:in_time_count], throughput_per_s:, **latencies,
          generator_cpu_ns: @figures[:cpu_ns], connections_made_count: @figures[:connections_count],
          body_bytes_ranges:, statuses:, **unexpected, socket_errors_count: @figures[:failed_count],
          first_failure: @figures[:first_failure], first_unexpected: @first_unexpected, refused: @figures[:refused],
          unanswered_count: @figures[:unanswered_count], **(@arrivals.open? ? of_open_loop : of_closed_loop),
          remarks: @remarks, unknown:
        )
      end

      private

      # In an open loop this is the rate at which responses came while requests were sent: those that a server too slow
      # for the rate gives afterwards are no throughput of it. The time before the first response is left out, as the
      # requests that are under way at the end are.
      def throughput_per_s
        in_time_count, first_ns = @figures.values_at(:in_time_count, :first_response_ns)
        unless @arrivals.open? && in_time_count > 1 && @duration_ns > first_ns
          return latency.count.fdiv(@duration_ns) * Units::NS_PER_S
        end
        in_time_count.pred.fdiv(@duration_ns - first_ns) * Units::NS_PER_S
      end

      def requests = @figures[:requests]

      def histogram(name) = Probe::Histogram.new(zero_count: 0, counts: @figures[name])

      def latency = @latency ||= histogram(:latency)

      def latencies
        max_ns = @figures[:latency_max_ns] if latency.count.positive?
        {
          mean_ns: (@figures[:latency_sum_ns] / latency.count if latency.count.positive?),
          **Outcome.percentiles_ns(latency, max_ns), max_ns:, latency:, service: histogram(:service)
        }
      end

      def body_bytes_ranges
        requests.map do |request|
          request.values_at(:body_bytes_min, :body_bytes_max) if request[:answered_count].positive?
        end
      end

      def statuses
        requests.map { |request| request[:statuses] }.reduce { |sum, one| sum.merge(one) { |_, a, b| a + b } }
          .transform_keys(&:to_s).sort.to_h
      end

      def unexpected
        wrong_body_count = requests.sum { |request| request[:wrong_body_count] }
        {unexpected_count: requests.sum { |request| request[:unexpected_count] } + wrong_body_count, wrong_body_count:}
      end

      def of_open_loop
        lag = histogram(:lag)
        {lag:, lag_p99_ns: lag.quantile_ns(0.99), intended_count: @figures[:intended_count],
         connection_wait_count: @figures[:connection_wait_count]}
      end

      def of_closed_loop = {settling_ns: (@figures[:settling_ns] if settled?), unmet_count: @figures[:unmet_count]}

      def settled? = @figures[:settling_ns].positive?

      def unknown
        return %i[settling_ns unmet_count].map { |field| Unknown.of(field, :open_loop) } if @arrivals.open?
        [*%i[lag lag_p99_ns intended_count connection_wait_count].map { |field| Unknown.of(field, :closed_loop) },
          *(Unknown.of(:settling_ns, :never_settled) unless settled?)]
      end
    end
  end
end
