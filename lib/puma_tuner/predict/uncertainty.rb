# frozen_string_literal: true

module PumaTuner
  module Predict
    # Computes how sure forecasts are. It adds the scatter over seeds, which holds chance and the recording's sampling
    # error, to what the model itself gets wrong, by what it got wrong before and by what it gets wrong of the
    # recordings it was made from.
    class Uncertainty
      # Forecasts miss by so much (standard deviation of the logarithm): the median error of the medium form of `rake
      # validate` over 0.6745, which makes it that of a normal distribution without letting the few cells that miss far
      # decide. It covers all classes of work, uncorrected, so that the machine's drift is in it, which a user meets,
      # too: 4.7, 4.6 and 7.4% of made apps, locks and hand-overs, and 8.0, 7.2 and 14.5% of real ones, of throughput,
      # p50 and p99 (docs/measured/validation.md); the mean and p90, of which that page tells nothing, lie between their
      # neighbours. The wait for the GVL has the median error of 91 cells of the lab myth_busters, 36.7%
      # (docs/internals/prediction.md), over the same.
      MODEL_ERROR_RATIOS = {"throughput" => 0.07, "mean" => 0.08, "p50" => 0.1, "p90" => 0.13, "p99" => 0.18,
                            "gvl_wait" => 0.54}.freeze

      # So many checks of an app's own forecasts weigh as much as that. This is a judgement.
      PRIOR_CHECKS_COUNT = 5

      # @param past_error [Hash, nil] see TrackRecord
      # @param self_check [SelfCheck, nil]
      def initialize(past_error, self_check = nil)
        @past_error = past_error || {}
        @self_check = self_check
      end

      # @param outcomes [Array<Outcome>] of several seeds
      # @param open [Boolean] whether the throughput is the load's own rate, about which the model can't be wrong
      # @param percentiles [Array<String>] that were asked for
      # @param endpoints [Hash{Goal => Integer}] goals of endpoints, and the endpoint's index in the outcomes
      # @return [Hash{Symbol => Object}] estimates by name, and the samples behind them
      def estimates(outcomes, open:, percentiles: [], endpoints: {})
        samples = {
          throughput_per_s: outcomes.map(&:throughput_per_s), mean_ns: outcomes.map(&:mean_ns),
          p50_ns: quantiles(outcomes, "p50"),
          p90_ns: quantiles(outcomes, "p90"), p99_ns: quantiles(outcomes, "p99"),
          gvl_wait_ns: outcomes.map { |outcome| outcome.means.fetch(:gvl_wait) }
        }
        told = samples.to_h do |name, values|
          [name, estimate(metric_of(name), values, sure: open && name == :throughput_per_s)]
        end
        {**told, samples: samples.transform_keys(&:to_s),
                 quantiles: percentiles.to_h { |name| [name, estimate(name, quantiles(outcomes, name))] }.freeze,
                 endpoint_latencies: endpoints.map { |goal, index| endpoint_latency(goal, outcomes, index) }.freeze}
      end

      # The model's errors elsewhere tell how far it misses in general, and each of an app's own forecasts that was
      # checked counts among them. Its error for a recording that it was made from is no draw from the same: such an app
      # is of a kind that it does not know. So that is added, as a variance of its own.
      #
      # @param metric [String] "throughput", "mean", "gvl_wait" or a percentile such as "p95"
      # @return [Float] standard deviation of the logarithm
      def error_ratio(metric) = Math.hypot(of_checks(metric), @self_check&.error_ratio(kept_as(metric)) || 0.0)

      # @param name [Symbol] a field of Forecast, such as :p99_ns
      # @return [String] the metric it is of
      def metric_of(name) = name.to_s.sub(/_(ns|per_s)\z/, "")

      private

      def of_checks(metric)
        typical = MODEL_ERROR_RATIOS[metric] ||
          MODEL_ERROR_RATIOS.fetch(Percentile.among(MODEL_ERROR_RATIOS.keys, metric))
        kept = [metric, kept_as(metric)].find { |one| @past_error[one] } or return typical
        own = @past_error.fetch(kept)
        count = @past_error["#{kept}_checks_count"] || @past_error.fetch("checks_count")
        Math.sqrt((PRIOR_CHECKS_COUNT * typical**2 + count * own**2) / (PRIOR_CHECKS_COUNT + count))
      end

      # Among latencies only p50 and p99 are checked; the others go by them.
      def kept_as(metric)
        return "p50" if metric == "mean"
        Percentile.name?(metric) ? Percentile.among(%w[p50 p99], metric) : metric
      end

      def quantiles(outcomes, name, endpoint: nil)
        outcomes.map { |outcome| outcome.quantile_ns(Percentile.ratio(name).to_f, endpoint:) }
      end

      # Nobody knows it where one of the simulations counted no request of the endpoint.
      def endpoint_latency(goal, outcomes, index)
        values = quantiles(outcomes, goal.percentile, endpoint: index)
        EndpointLatency.new(endpoint: goal.endpoint, percentile: goal.percentile,
          latency_ns: (estimate(goal.percentile, values) unless values.include?(nil)))
      end

      def estimate(metric, values, sure: false)
        Stats::Estimate.of_prediction(values, error_ratio: sure ? 0.0 : error_ratio(metric))
      end
    end
  end
end
