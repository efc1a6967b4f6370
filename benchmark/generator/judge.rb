# frozen_string_literal: true

require_relative "../overhead/difference"
require_relative "../overhead/verdict"

module GeneratorBenchmark
  # The generator's targets. Pure.
  module Judge
    COST_TARGET_RATIO = 1.5
    LAG_TARGET_US = 1_000
    LAG_TARGET_RATE_PER_S = 2_000

    class << self
      # @param cost [Array<Cost::Series>]
      # @param lag [Array<Lag::Series>]
      # @return [Array<Overhead::Verdict>] none for what was not measured
      def verdicts(cost:, lag:)
        [*cost.map { |series| dearer(series) }, *lag.select { |series| series.rate_per_s == LAG_TARGET_RATE_PER_S }.map { |series| late(series) }]
      end

      # @param series [Cost::Series]
      # @return [PumaTuner::Stats::Estimate] ours over wrk's, of the same rounds
      def ratio(series, ours: "ours", other: "wrk") = PumaTuner::Stats::PairedRatio.of(series.samples.fetch(other), series.samples.fetch(ours))

      private

      def dearer(series)
        Overhead::Verdict.new(claim: "CPU per request, #{series.title}: at most #{COST_TARGET_RATIO} times wrk's", unit: "x",
          target: COST_TARGET_RATIO, estimate: ratio(series), noise: noise(series))
      end

      # By how much equals differ, at the size of the target: the wider of both pairs.
      def noise(series)
        pairs = [ratio(series, ours: "ours_again", other: "ours"), ratio(series, ours: "wrk_again", other: "wrk")]
        pairs.map { |pair| pair.with(low: (pair.low - 1) * COST_TARGET_RATIO, high: (pair.high - 1) * COST_TARGET_RATIO) }
          .max_by { |pair| [pair.low.abs, pair.high.abs].max }
      end

      def late(series)
        lags_us = series.outcomes.map { |outcome| outcome.lag_p99_ns.fdiv(PumaTuner::Units::NS_PER_US) }
        Overhead::Verdict.new(claim: "lag's p99 at #{LAG_TARGET_RATE_PER_S} requests/s: below #{LAG_TARGET_US} µs", unit: "µs",
          target: LAG_TARGET_US, estimate: Overhead::Difference.of(lags_us), noise: Overhead::Verdict::NO_PAIR)
      end
    end
  end
end
