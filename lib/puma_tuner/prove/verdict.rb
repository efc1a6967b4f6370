# frozen_string_literal: true

module PumaTuner
  module Prove
    # One variant under load in one round, in a process of its own.
    #
    # variant: its name; position: 0 for the first in its round
    # cpu_per_request_ns: server CPU, all processes; pss_bytes: at the end of the load
    # void_reason: nil, or why the round must not be counted
    Trial = Document.define(:variant, :round, :position, :throughput_per_s, :mean_ns, :p50_ns, :p99_ns,
      :cpu_per_request_ns, :pss_bytes, :requests_count, :cpu_pressure_ratio, :void_reason)

    # One variant against the baseline, in one metric, over paired rounds.
    #
    # metric: "throughput", "p50", "p99" or "cpu_per_request"; ratio: an Estimate, variant over baseline
    # predicted_ratio: the forecast's, nil where none was made
    # outcome: "better", "worse", "equivalent" or "not shown"; a ratio's direction is the metric's (latency: lower is better)
    Comparison = Document.define(:variant, :metric, :ratio, :predicted_ratio, :outcome, nested: {ratio: Stats::Estimate})

    # A variant's measured means beside its forecast.
    #
    # throughput_per_s, p50_ns, p99_ns: Estimates over rounds (median, minimum to maximum); predicted_*: nil without forecast
    Cell = Document.define(:variant, :topology, :throughput_per_s, :p50_ns, :p99_ns, :cpu_per_request_ns, :pss_bytes,
      :predicted_throughput_per_s, :predicted_p50_ns, :predicted_p99_ns,
      nested: {topology: Topology, throughput_per_s: Stats::Estimate, p50_ns: Stats::Estimate, p99_ns: Stats::Estimate,
               cpu_per_request_ns: Stats::Estimate, pss_bytes: Stats::Estimate}) do
      # @return [Float, nil] signed relative error of the predicted throughput
      def throughput_error_ratio = error_ratio(predicted_throughput_per_s, throughput_per_s)

      # @return [Float, nil] of the predicted median latency
      def p50_error_ratio = error_ratio(predicted_p50_ns, p50_ns)

      # @return [Float, nil] of the predicted 99th percentile
      def p99_error_ratio = error_ratio(predicted_p99_ns, p99_ns)

      private

      def error_ratio(predicted, measured) = predicted && predicted.fdiv(measured.value) - 1
    end

    # What the rounds showed.
    #
    # baseline: name of the variant that the others are held against
    # generator: what sent the load; duration_ns: of the load in each trial; voided_count: trials thrown out and run again
    Verdict = Document.define(:baseline, :cells, :comparisons, :trials, :rounds_count, :voided_count, :generator,
      :duration_ns, :connections_count, :seed, kind: :verdict,
      nested: {cells: [Cell], comparisons: [Comparison], trials: [Trial]}) do
      # @return [Comparison, nil]
      def comparison(variant, metric)
        comparisons.find { |comparison| comparison.variant == variant && comparison.metric == metric }
      end
    end
  end
end
