# frozen_string_literal: true

require_relative "picks"

module Validation
  # One target, held against what was measured.
  #
  # kind: class of work; metric: that it is of, nil of other things; claim, target: in words
  # value_ratio: what it came to, nil when nothing was measured that it is about; least_ratio, most_ratio: the same, were the truth at the near
  #   or the far end of what was measured; outcome: :met, :missed, :noisy, or :unmeasured
  # cells_count: it rests on so many; missing: those beyond the target, [name, ratio], worst first
  Verdict = Data.define(:kind, :metric, :claim, :target, :value_ratio, :least_ratio, :most_ratio, :outcome, :cells_count, :missing) do
    # By the errors as they are, which a user would have had: noise excuses no miss. And where it leaves open more than the target
    # itself, the target is not met by it either.
    # @param target_ratio [Float]
    def self.at_most(target_ratio, value_ratio:, most_ratio:, **fields)
      outcome = if value_ratio.nil? then :unmeasured
      elsif value_ratio > target_ratio then :missed
      else (most_ratio - value_ratio > target_ratio) ? :noisy : :met
      end
      new(target: "at most #{PumaTuner::Units.percent(target_ratio)}", value_ratio:, most_ratio:, outcome:, **fields)
    end

    # A share that is neither to be too low nor too high. It is missed where its own interval lies outside; where that reaches inside, there were too few cells.
    # @param range [Range] of ratios
    # @param share [PumaTuner::Stats::Estimate, nil]
    def self.within(range, share, **fields)
      outcome = if share.nil? then :unmeasured
      elsif range.cover?(share.value) then :met
      else (share.low > range.end || share.high < range.begin) ? :missed : :noisy
      end
      new(target: "#{PumaTuner::Units.percent(range.begin)} to #{PumaTuner::Units.percent(range.end)}", value_ratio: share&.value, least_ratio: share&.low,
        most_ratio: share&.high, outcome:, missing: [], **fields)
    end

    def missed? = outcome == :missed

    def noisy? = outcome == :noisy

    def unmeasured? = outcome == :unmeasured
  end

  # The targets, for each class of work. Pure.
  module Judge
    GVL_WAIT_NS = 200_000

    Statistic = Data.define(:title, :function) do
      def call(ratios) = function.call(ratios)
    end

    P90 = Statistic.new(title: "90th percentile of errors", function: ->(ratios) { PumaTuner::Stats::Quantile.of(ratios.sort, 0.9) })
    MEDIAN = Statistic.new(title: "median error", function: ->(ratios) { PumaTuner::Stats::Quantile.of(ratios.sort, 0.5) })
    WORST = Statistic.new(title: "worst error", function: ->(ratios) { ratios.max })

    Target = Data.define(:metric, :ratio, :statistic)

    # Per cent of next to nothing mean nothing.
    # @param error [Error]
    # @return [Boolean]
    def self.forgiven?(error) = error.metric == :gvl_wait && error.absolute <= GVL_WAIT_NS

    both = ->(metric, median, p90) { [Target.new(metric:, ratio: median, statistic: MEDIAN), Target.new(metric:, ratio: p90, statistic: P90)] }
    contended = [*both.call(:throughput, 0.05, 0.10), Target.new(metric: :p99, ratio: 0.15, statistic: P90)].freeze
    real = [*both.call(:throughput, 0.05, 0.12), *both.call(:p99, 0.15, 0.30)].freeze

    # There is none for background threads: their errors are told.
    TARGETS = {
      "made" => [*both.call(:throughput, 0.02, 0.05), *both.call(:p50, 0.03, 0.10), *both.call(:p99, 0.08, 0.20),
        Target.new(metric: :gvl_wait, ratio: 0.10, statistic: WORST)].freeze,
      "locks" => contended, "handover" => contended, "real" => real, "real, held out" => real
    }.freeze

    REGRET_RATIO = 0.03
    COVERED_RATIOS = (0.93..0.97)

    # Shown of every class, and what 95 % intervals are judged by.
    METRICS = %i[throughput p50 p99 gvl_wait].freeze
    COVERED = %i[throughput p50 p99].freeze

    class << self
      # What a user would have had: of a subject that was recorded with companions, as `tune` does, no cell counts that was predicted without them.
      # @param comparisons [Array<Comparison>] all that was measured, disturbed or not
      # @return [Array<Comparison>]
      def judged(comparisons)
        own = comparisons.reject { |comparison| comparison.cell.level.wrk? }
        with_companions = own.select { |comparison| comparison.recorded.at.companions }.map { |comparison| comparison.cell.subject }.uniq
        own.select { |comparison| comparison.recorded.at.companions || !with_companions.include?(comparison.cell.subject) }
      end

      # @param comparisons [Array<Comparison>] that are judged; those that are held out only when they are to be looked at
      # @param kinds [Array<String>] classes of work that were asked for
      # @param picks [Array<Pick>] of the recommended settings
      # @return [Array<Verdict>]
      def verdicts(comparisons, kinds:, picks: Picks.of(comparisons))
        by_kind = comparisons.group_by(&:kind)
        [*TARGETS.slice(*kinds, *by_kind.keys).flat_map { |kind, targets| targets.map { |target| verdict(kind, target, errors(by_kind.fetch(kind, []), target.metric)) } },
          *kinds.map { |kind| regret(kind, picks.select { |pick| pick.kind == kind }) }.compact,
          *coverage(comparisons, kinds), steady(comparisons)]
      end

      private

      def errors(comparisons, metric) = comparisons.filter_map { |comparison| comparison.errors[metric] }

      def verdict(kind, target, errors)
        missing = errors.filter_map { |error| [error.cell_key, error.ratio] if !forgiven?(error) && error.ratio.abs > target.ratio }
        values = %i[itself least most].to_h { |which| [which, statistic(target, errors, which)] }
        only = ", where it is off by 0.2 ms or more" if target.metric == :gvl_wait
        Verdict.at_most(target.ratio, kind:, metric: target.metric, claim: "#{kind}: #{target.metric.to_s.tr("_", " ")}, #{target.statistic.title}#{only}",
          value_ratio: values[:itself], least_ratio: values[:least], most_ratio: values[:most],
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

      # Nothing is picked among background threads' cells.
      def regret(kind, picks)
        return if kind == "background" && picks.empty?
        worst = ->(end_name) { picks.map { |pick| pick.regret.public_send(end_name) }.max }
        missing = picks.filter_map { |pick| ["#{pick.group}: #{pick.picked} instead of #{pick.needed}", pick.regret.value] if pick.regret.value > REGRET_RATIO }
        Verdict.at_most(REGRET_RATIO, kind:, metric: nil, claim: "#{kind}: throughput lost by the recommended workers x threads, worst", cells_count: picks.size,
          value_ratio: worst.call(:value), least_ratio: worst.call(:low), most_ratio: worst.call(:high), missing: missing.sort_by { |_, ratio| -ratio })
      end

      # How wrong the model is taken to be was set by the made grid, which is no test of it.
      def coverage(comparisons, kinds)
        return [] if (kinds - ["made"]).empty?
        fresh = comparisons.reject { |comparison| comparison.kind == "made" }
        COVERED.map do |metric|
          covered = errors(fresh, metric).map(&:covered?).compact
          share = PumaTuner::Stats::Wilson.interval(covered.count(true), covered.size) if covered.any?
          Verdict.within(COVERED_RATIOS, share, kind: nil, metric:, claim: "all but made: measured #{metric} in the 95 % interval", cells_count: covered.size)
        end
      end

      # A load that was served, and was said to have no steady state, or could not be predicted at all.
      def steady(comparisons)
        failed = comparisons.select(&:unpredicted)
        share_ratio = failed.size.fdiv(comparisons.size) if comparisons.any?
        Verdict.at_most(0.0, kind: nil, metric: nil, claim: "cells that were served, and not predicted", value_ratio: share_ratio, least_ratio: share_ratio, most_ratio: share_ratio,
          cells_count: comparisons.size, missing: failed.map { |comparison| ["#{comparison.name}: #{comparison.unpredicted}", 1.0] })
      end
    end
  end
end
