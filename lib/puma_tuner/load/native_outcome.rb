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
        @duration_ns = (duration_s * Units::NS_PER_S).round
        @arrivals = arrivals
      end

      # @return [Outcome]
      def outcome
        latency = histogram(:latency)
        count = @figures[:answered_count]
        Outcome.new(
          generator: @name, connections_count: @connections_count, duration_ns: @duration_ns, requests_count: count,
          throughput_per_s: count.fdiv(@duration_ns) * Units::NS_PER_S, mean_ns: (@figures[:latency_sum_ns] / count if count.positive?),
          p50_ns: latency.quantile_ns(0.5), p90_ns: latency.quantile_ns(0.9), p99_ns: latency.quantile_ns(0.99),
          p999_ns: latency.quantile_ns(0.999), latency:, service: histogram(:service), generator_cpu_ns: @figures[:cpu_ns],
          body_bytes_ranges: requests.map { |request| request.values_at(:body_bytes_min, :body_bytes_max) if request[:answered_count].positive? },
          statuses:, unexpected_count: requests.sum { |request| request[:unexpected_count] + request[:wrong_body_count] },
          socket_errors_count: @figures[:broken_count], unanswered_count: @figures[:unanswered_count], **of_open_loop, unknown:
        )
      end

      private

      def requests = @figures[:requests]

      def histogram(name) = Stats::Histogram.new(zero_count: 0, counts: @figures[name])

      def statuses
        requests.map { |request| request[:statuses] }.reduce { |sum, one| sum.merge(one) { |_, a, b| a + b } }.transform_keys(&:to_s).sort.to_h
      end

      def of_open_loop
        return {lag_p99_ns: nil, intended_count: nil, held_back_count: nil} unless @arrivals.open?
        {lag_p99_ns: histogram(:lag).quantile_ns(0.99), intended_count: @figures[:intended_count], held_back_count: @figures[:held_back_count]}
      end

      def unknown
        return {} if @arrivals.open?
        %w[lag_p99_ns intended_count held_back_count].to_h { |field| [field, "a closed loop intends no instants"] }
      end
    end
  end
end
