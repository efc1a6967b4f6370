# frozen_string_literal: true

module PumaTuner
  module Predict
    # One metric of one forecast, held against what was measured in the same scenario.
    #
    # metric: "throughput", "p50" or "p99"; forecast, measured: Estimates in its unit
    # inside: whether the two intervals meet; error_ratio: signed, forecast over measured, less 1
    Check = Document.define(:scenario, :metric, :forecast, :measured, :inside, :error_ratio,
      nested: {scenario: Scenario, forecast: Stats::Estimate, measured: Stats::Estimate})

    class Check
      # The forecast's field for each metric.
      FIELDS = {"throughput" => :throughput_per_s, "p50" => :p50_ns, "p99" => :p99_ns}.freeze

      # @param forecast [Forecast]
      # @param measured [Hash{String => Stats::Estimate}] by metric
      # @return [Array<Check>] of the metrics that both know; none without a steady state, nor of an open loop's
      #   throughput: that is the load's own rate, and to have it right says nothing of the model
      def self.all(forecast, measured)
        return [] unless forecast.steady?
        fields = forecast.scenario.arrivals.open? ? FIELDS.except("throughput") : FIELDS
        fields.filter_map do |metric, field|
          predicted = forecast.public_send(field)
          of(forecast.scenario, metric, predicted, measured[metric]) if predicted && measured[metric]&.value&.positive?
        end
      end

      # @return [Check]
      def self.of(scenario, metric, forecast, measured)
        new(scenario:, metric:, forecast:, measured:,
          inside: forecast.low <= measured.high && measured.low <= forecast.high,
          error_ratio: forecast.value.fdiv(measured.value) - 1)
      end

      # @return [Float] of measured over forecast
      def log_ratio = Math.log(measured.value.fdiv(forecast.value))
    end
  end
end
