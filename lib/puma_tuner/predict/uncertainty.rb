# frozen_string_literal: true

module PumaTuner
  module Predict
    # How sure forecasts are: the scatter over seeds, which holds chance and the recording's sampling error; and what the model
    # itself gets wrong, by what it got wrong before.
    class Uncertainty
      # By how much forecasts miss (standard deviation of the logarithm): the median error of the short grid of `rake validate` over 0.6745, which makes
      # it that of a normal distribution without letting the few cells that miss far decide (docs/validation.md: 2.6, 4.0, 7.2 and 10.1 %, corrected for the
      # machine's speed, so that its drift is in no interval; p90, of which that page tells nothing, lies between its neighbours).
      MODEL_ERROR_RATIOS = {"throughput" => 0.04, "mean" => 0.06, "p50" => 0.1, "p90" => 0.12, "p99" => 0.15}.freeze

      # How many checks of an app's own forecasts weigh as much as that. A judgement.
      PRIOR_CHECKS_COUNT = 5

      # The metrics whose own error is not recorded go by another's.
      STANDS_IN = {"mean" => "p50", "p90" => "p99"}.freeze

      # @param past_error [Hash, nil] see TrackRecord
      def initialize(past_error)
        @past_error = past_error || {}
      end

      # @param outcomes [Array<Outcome>] of several seeds
      # @param open [Boolean] whether the throughput is the load's own rate, about which the model can't be wrong
      # @return [Hash{Symbol => Object}] estimates by name, and the samples behind them
      def estimates(outcomes, open:)
        samples = {
          throughput_per_s: outcomes.map(&:throughput_per_s), mean_ns: outcomes.map(&:mean_ns), p50_ns: quantiles(outcomes, 0.5),
          p90_ns: quantiles(outcomes, 0.9), p99_ns: quantiles(outcomes, 0.99)
        }
        {**samples.to_h { |name, values| [name, estimate(name, values, sure: open && name == :throughput_per_s)] }, samples: samples.transform_keys(&:to_s)}
      end

      # @param metric [String]
      # @return [Float] standard deviation of the logarithm
      def error_ratio(metric)
        typical = MODEL_ERROR_RATIOS.fetch(metric)
        own = @past_error[metric] || @past_error[STANDS_IN[metric]]
        return typical unless own
        count = @past_error.fetch("checks_count")
        Math.sqrt((PRIOR_CHECKS_COUNT * typical**2 + count * own**2) / (PRIOR_CHECKS_COUNT + count))
      end

      private

      def quantiles(outcomes, ratio) = outcomes.map { |outcome| outcome.quantile_ns(ratio) }

      def estimate(name, values, sure:)
        Stats::Estimate.of_prediction(values, error_ratio: sure ? 0.0 : error_ratio(name.to_s.sub(/_(ns|per_s)\z/, "")))
      end
    end
  end
end
