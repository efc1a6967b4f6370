# frozen_string_literal: true

module PumaTuner
  module Prove
    # Trials -> Verdict: paired ratios with intervals, and what may be said of them.
    class Judge
      # A difference that matters to nobody: an interval inside it counts as equivalent.
      EQUIVALENT_RATIO = 0.02

      # Metrics by name: the trial's field, the forecast's, and whether more is better.
      METRICS = {
        "throughput" => [:throughput_per_s, :throughput_per_s, true],
        "p50" => [:p50_ns, :p50_ns, false],
        "p99" => [:p99_ns, :p99_ns, false],
        "cpu_per_request" => [:cpu_per_request_ns, nil, false]
      }.freeze

      # @param variants [Array<Variant>] the first is the baseline
      # @param trials [Array<Trial>]
      def initialize(variants:, trials:)
        @variants = variants
        @trials = trials
        # One void trial voids its round: the others of it lack their pair. Attempts follow each other in `trials`.
        void, valid = trials.each_slice(variants.size).partition { |attempt| attempt.any?(&:void_reason) }
        @void = void.flatten
        @valid = valid.flatten
      end

      # @param facts [Hash] the remaining fields of Verdict: generator, duration_ns, connections_count, seed
      # @return [Verdict]
      def call(**facts)
        baseline, *others = @variants
        Verdict.new(baseline: baseline.name, cells: @variants.map { |variant| cell(variant) },
          comparisons: others.flat_map { |variant| comparisons(baseline, variant) },
          trials: @trials, rounds_count: @valid.size / @variants.size, voided_count: @void.size, **facts)
      end

      private

      def values(variant, field)
        @valid.select { |trial| trial.variant == variant.name }.sort_by(&:round).map(&field)
      end

      def comparisons(baseline, variant)
        METRICS.filter_map do |metric, (field, forecast_field, more_is_better)|
          before = values(baseline, field)
          after = values(variant, field)
          next if (before + after).include?(nil) || (before + after).any?(&:zero?)
          ratio = Stats::PairedRatio.of(before, after)
          Comparison.new(variant: variant.name, metric:, ratio:, outcome: outcome(ratio, more_is_better),
            predicted_ratio: forecast_field && predicted_ratio(baseline, variant, forecast_field))
        end
      end

      def predicted_ratio(baseline, variant, field)
        return unless baseline.forecast && variant.forecast
        variant.forecast.public_send(field).value.fdiv(baseline.forecast.public_send(field).value)
      end

      # Without an interval of stated coverage (fewer than six rounds) nothing is shown.
      def outcome(ratio, more_is_better)
        return "not shown" unless ratio.level_ratio
        return "equivalent" if ratio.low >= 1 - EQUIVALENT_RATIO && ratio.high <= 1 + EQUIVALENT_RATIO
        return "not shown" if ratio.covers?(1)
        ((ratio.low > 1) == more_is_better) ? "better" : "worse"
      end

      def cell(variant)
        forecast = variant.forecast
        Cell.new(
          variant: variant.name, topology: variant.topology,
          throughput_per_s: estimate(variant, :throughput_per_s), p50_ns: estimate(variant, :p50_ns), p99_ns: estimate(variant, :p99_ns),
          cpu_per_request_ns: estimate(variant, :cpu_per_request_ns), pss_bytes: estimate(variant, :pss_bytes),
          predicted_throughput_per_s: forecast&.throughput_per_s&.value, predicted_p50_ns: forecast&.p50_ns&.value,
          predicted_p99_ns: forecast&.p99_ns&.value
        )
      end

      def estimate(variant, field)
        samples = values(variant, field)
        Stats::Estimate.of_range(samples) unless samples.empty? || samples.include?(nil)
      end
    end
  end
end
