# frozen_string_literal: true

module PumaTuner
  module Load
    # The native generator's figures as an Outcome.
    class NativeOutcome
      # @param figures [Hash{Symbol => Object}] as ext/puma_tuner_load/bindings.c writes them
      def initialize(figures, mix:, name:, connections_count:, duration_s:, arrivals:)
        @figures = figures
        @mix = mix
        @name = name
        @connections_count = connections_count
        # Less than was asked for when it was stopped; waiting for the last answers is no part of it.
        @duration_ns = [(duration_s * Units::NS_PER_S).round, figures[:elapsed_ns]].min
        @arrivals = arrivals
      end

      # @return [Outcome]
      def outcome
        count = @figures[:answered_count]
        Outcome.new(
          generator: @name, arrivals: @arrivals.to_s, connections_count: @connections_count, duration_ns: @duration_ns, requests_count: count,
          throughput_per_s:, mean_ns: (@figures[:latency_sum_ns] / count if count.positive?),
          **latencies, generator_cpu_ns: @figures[:cpu_ns], connections_made_count: @figures[:connections_count],
          body_bytes_ranges: requests.map { |request| request.values_at(:body_bytes_min, :body_bytes_max) if request[:answered_count].positive? },
          statuses:, **unexpected, socket_errors_count: @figures[:failed_count], first_failure: @figures[:first_failure],
          unanswered_count: @figures[:unanswered_count], **of_open_loop, unknown:
        )
      end

      private

      # Of an open loop, the rate at which answers came while requests were sent: those that a server too slow for the rate gives
      # afterwards are no throughput of it. The time before the first answer is left out, as what is under way at the end is.
      def throughput_per_s
        in_time_count, first_ns = @figures.values_at(:in_time_count, :first_answer_ns)
        return @figures[:answered_count].fdiv(@duration_ns) * Units::NS_PER_S unless @arrivals.open? && in_time_count > 1 && @duration_ns > first_ns
        in_time_count.pred.fdiv(@duration_ns - first_ns) * Units::NS_PER_S
      end

      def requests = @figures[:requests]

      def histogram(name) = Stats::Histogram.new(zero_count: 0, counts: @figures[name])

      def latencies
        latency = histogram(:latency)
        {
          p50_ns: latency.quantile_ns(0.5), p90_ns: latency.quantile_ns(0.9), p99_ns: latency.quantile_ns(0.99),
          p999_ns: latency.quantile_ns(0.999), max_ns: (@figures[:latency_max_ns] if latency.count.positive?), latency:, service: histogram(:service)
        }
      end

      def statuses
        requests.map { |request| request[:statuses] }.reduce { |sum, one| sum.merge(one) { |_, a, b| a + b } }.transform_keys(&:to_s).sort.to_h
      end

      def unexpected
        wrong_body_count = requests.sum { |request| request[:wrong_body_count] }
        {unexpected_count: requests.sum { |request| request[:unexpected_count] } + wrong_body_count, wrong_body_count:}
      end

      def of_open_loop
        return {lag: nil, lag_p99_ns: nil, intended_count: nil, held_back_count: nil} unless @arrivals.open?
        lag = histogram(:lag)
        {lag:, lag_p99_ns: lag.quantile_ns(0.99), intended_count: @figures[:intended_count], held_back_count: @figures[:held_back_count]}
      end

      def unknown
        return {} if @arrivals.open?
        %w[lag lag_p99_ns intended_count held_back_count].to_h { |field| [field, "a closed loop intends no instants"] }
      end
    end
  end
end
