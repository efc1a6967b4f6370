# frozen_string_literal: true

require_relative "picks"

module Validation
  # One target, held against what was measured.
  #
  # value_ratio: what it came to; beyond_ratio: the same when each cell's error is only what lies outside of its measured
  # interval; cells_count: it rests on so many; missing: of the cells that miss it beyond that, [key, ratio], worst first
  Verdict = Data.define(:claim, :target_ratio, :value_ratio, :beyond_ratio, :cells_count, :missing) do
    # @return [Symbol] :missed when noise does not explain it; :not_shown when it may, or there are no cells
    def outcome
      return :not_shown if value_ratio.nil?
      return :missed if beyond_ratio > target_ratio
      (value_ratio <= target_ratio) ? :met : :not_shown
    end

    def missed? = outcome == :missed
  end

  # The targets, of issue "Predict". Pure.
  module Judge
    GVL_WAIT_NS = 200_000
    P90 = ->(ratios) { PumaTuner::Stats::Quantile.of(ratios.sort, 0.9) }
    MEDIAN = ->(ratios) { PumaTuner::Stats::Quantile.of(ratios.sort, 0.5) }
    WORST = ->(ratios) { ratios.max }

    Target = Data.define(:metric, :claim, :ratio, :statistic)

    TARGETS = [
      Target.new(metric: :throughput, claim: "throughput, median absolute error", ratio: 0.02, statistic: MEDIAN),
      Target.new(metric: :throughput, claim: "throughput, worst error", ratio: 0.05, statistic: WORST),
      Target.new(metric: :p50, claim: "p50, median absolute error", ratio: 0.03, statistic: MEDIAN),
      Target.new(metric: :p50, claim: "p50, worst error", ratio: 0.10, statistic: WORST),
      Target.new(metric: :gvl_wait, claim: "GVL wait, every cell, where it is off by 0.2 ms or more", ratio: 0.10, statistic: WORST),
      Target.new(metric: :p99, claim: "p99, median absolute error", ratio: 0.08, statistic: MEDIAN),
      Target.new(metric: :p99, claim: "p99, 90th percentile of errors", ratio: 0.20, statistic: P90)
    ].freeze
    REGRET_RATIO = 0.03

    class << self
      # @param comparisons [Array<Comparison>] all; invalid ones do not count
      # @return [Array<Verdict>]
      def verdicts(comparisons)
        valid = comparisons.reject(&:invalid)
        [*TARGETS.map { |target| verdict(target, valid.filter_map { |comparison| comparison.errors[target.metric] }) },
          regret(Picks.of(valid)), steady(valid)]
      end

      private

      def verdict(target, errors)
        counting = errors.map { |error| forgiven?(error) ? [error, 0.0, 0.0] : [error, error.ratio.abs, error.beyond_ratio] }
        missing = counting.filter_map { |error, _, beyond_ratio| [error.cell_key, error.ratio] if beyond_ratio > target.ratio }
        Verdict.new(claim: target.claim, target_ratio: target.ratio, value_ratio: of(counting.map { |_, ratio, _| ratio }, target),
          beyond_ratio: of(counting.map(&:last), target), cells_count: errors.size, missing: missing.sort_by { |_, ratio| -ratio.abs })
      end

      # Per cent of next to nothing mean nothing.
      def forgiven?(error) = error.metric == :gvl_wait && error.absolute <= GVL_WAIT_NS

      def of(ratios, target) = (target.statistic.call(ratios) if ratios.any?)

      def regret(picks)
        missing = picks.filter_map { |pick| ["#{pick.group}: #{pick.predicted} instead of #{pick.best}", pick.regret_ratio] if pick.beyond_ratio > REGRET_RATIO }
        Verdict.new(claim: "throughput lost by the predicted best workers x threads, worst", target_ratio: REGRET_RATIO, cells_count: picks.size,
          value_ratio: picks.map(&:regret_ratio).max, beyond_ratio: picks.map(&:beyond_ratio).max, missing: missing.sort_by { |_, ratio| -ratio })
      end

      # A load that was served, and was said to have no steady state, or could not be predicted at all.
      def steady(valid)
        failed = valid.select(&:unpredicted)
        share_ratio = failed.size.fdiv(valid.size) if valid.any?
        Verdict.new(claim: "cells that were served, and not predicted", target_ratio: 0.0, value_ratio: share_ratio, beyond_ratio: share_ratio,
          cells_count: valid.size, missing: failed.map { |comparison| ["#{comparison.cell.key}: #{comparison.unpredicted}", 1.0] })
      end
    end
  end
end
