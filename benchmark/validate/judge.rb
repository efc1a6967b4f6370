# frozen_string_literal: true

require_relative "picks"

module Validation
  # One target, held against what was measured.
  #
  # value_ratio: what it came to, nil when nothing was measured that it is about; least_ratio, most_ratio: the same, were the truth at the near
  # or the far end of each cell's measured interval; cells_count: it rests on so many; missing: those beyond the target, [key, ratio], worst first
  Verdict = Data.define(:claim, :target_ratio, :value_ratio, :least_ratio, :most_ratio, :cells_count, :missing) do
    # By the errors as they are, which a user would have had: noise excuses no miss. And where it leaves open more than the target
    # itself, the target is not met by it either.
    # @return [Symbol] :met, :missed, :noisy, or :unmeasured
    def outcome
      return :unmeasured if value_ratio.nil?
      return :missed if value_ratio > target_ratio
      (most_ratio - value_ratio > target_ratio) ? :noisy : :met
    end

    def missed? = outcome == :missed

    def noisy? = outcome == :noisy

    def unmeasured? = outcome == :unmeasured
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
      # @param comparisons [Array<Comparison>] all that was measured, disturbed or not
      # @return [Array<Verdict>]
      def verdicts(comparisons)
        [*TARGETS.map { |target| verdict(target, comparisons.filter_map { |comparison| comparison.errors[target.metric] }) },
          regret(Picks.of(comparisons)), steady(comparisons)]
      end

      private

      def verdict(target, errors)
        missing = errors.filter_map { |error| [error.cell_key, error.ratio] if !forgiven?(error) && error.ratio.abs > target.ratio }
        values = %i[itself least most].to_h { |which| [which, statistic(target, errors, which)] }
        Verdict.new(claim: target.claim, target_ratio: target.ratio, value_ratio: values[:itself], least_ratio: values[:least], most_ratio: values[:most],
          cells_count: errors.size, missing: missing.sort_by { |_, ratio| -ratio.abs })
      end

      def statistic(target, errors, which)
        ratios = errors.map do |error|
          next 0.0 if forgiven?(error)
          case which
          when :itself then error.ratio.abs
          when :least then error.least_ratio
          when :most then error.most_ratio
          end
        end
        target.statistic.call(ratios) if ratios.any?
      end

      # Per cent of next to nothing mean nothing.
      def forgiven?(error) = error.metric == :gvl_wait && error.absolute <= GVL_WAIT_NS

      def regret(picks)
        worst = ->(end_name) { picks.map { |pick| pick.regret.public_send(end_name) }.max }
        missing = picks.filter_map { |pick| ["#{pick.group}: #{pick.picked} instead of #{pick.needed}", pick.regret.value] if pick.regret.value > REGRET_RATIO }
        Verdict.new(claim: "throughput lost by the predicted best workers x threads, worst", target_ratio: REGRET_RATIO, cells_count: picks.size,
          value_ratio: worst.call(:value), least_ratio: worst.call(:low), most_ratio: worst.call(:high), missing: missing.sort_by { |_, ratio| -ratio })
      end

      # A load that was served, and was said to have no steady state, or could not be predicted at all.
      def steady(comparisons)
        failed = comparisons.select(&:unpredicted)
        share_ratio = failed.size.fdiv(comparisons.size) if comparisons.any?
        Verdict.new(claim: "cells that were served, and not predicted", target_ratio: 0.0, value_ratio: share_ratio, least_ratio: share_ratio, most_ratio: share_ratio,
          cells_count: comparisons.size, missing: failed.map { |comparison| ["#{comparison.cell.key}: #{comparison.unpredicted}", 1.0] })
      end
    end
  end
end
