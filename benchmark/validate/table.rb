# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "judge"

module Validation
  # The tables that people read. Pure.
  class Table
    OUTCOMES = {met: "met", missed: "**missed**", noisy: "too noisy to say", unmeasured: "not measured"}.freeze
    TITLES = {throughput: "throughput", p50: "p50", p99: "p99", gvl_wait: "GVL wait", mean: "mean latency", cpu: "CPU per request"}.freeze
    MISSING_SHOWN = 12

    # Shown of each cell; the mean is only in the summary.
    SHOWN = %i[throughput p50 p99 gvl_wait cpu].freeze

    # @param comparisons [Array<Comparison>]
    def initialize(comparisons)
      @comparisons = comparisons
    end

    # @param verdicts [Array<Verdict>]
    # @return [String]
    def self.targets(verdicts)
      rows = verdicts.map do |verdict|
        [verdict.claim, percent(verdict.target_ratio), percent(verdict.value_ratio), range_percent(verdict.least_ratio, verdict.most_ratio), verdict.cells_count.to_s,
          OUTCOMES.fetch(verdict.outcome)]
      end
      Accuracy::Markdown.table(["target", "at most %", "came to %", "noise leaves open %", "cells", "outcome"], rows)
    end

    # @param verdicts [Array<Verdict>]
    # @return [String] in a sentence
    def self.verdict(verdicts)
      count = ->(outcome) { verdicts.count { |verdict| verdict.outcome == outcome } }
      noisy, unmeasured = count.call(:noisy), count.call(:unmeasured)
      ["**#{count.call(:missed)} of #{PumaTuner::Units.counted(verdicts.size, "target")} are missed**",
        *("#{noisy} could not be judged, as the measurement was too noisy" if noisy.positive?),
        *("#{unmeasured} could not be judged, as nothing was measured that they are about" if unmeasured.positive?)].join("; ").concat(".")
    end

    # @param verdicts [Array<Verdict>]
    # @return [String, nil] which cells miss
    def self.missing(verdicts)
      lines = verdicts.select(&:missed?).flat_map do |verdict|
        shown = verdict.missing.first(MISSING_SHOWN).map { |key, ratio| "  - #{key}#{" (#{Accuracy::Markdown.signed(ratio * 100)} %)" unless key.include?(": ")}" }
        rest = verdict.missing.size - shown.size
        ["- #{verdict.claim}:", *shown, *("  - and #{rest} more" if rest.positive?)]
      end
      lines.join("\n") if lines.any?
    end

    # @return [String] ratios as per cent
    def self.percent(ratio) = ratio ? format("%.1f", ratio * 100) : "-"

    # @return [String] both ends as per cent
    def self.range_percent(low, high) = (low && high) ? "#{percent(low)} to #{percent(high)}" : "-"

    # @param without [Array<Symbol>] metrics that are left out
    # @return [String] each metric's errors
    def summary(without: [])
      rows = TITLES.except(*without).filter_map do |metric, title|
        errors = errors(metric)
        [title, *statistics(errors), Accuracy::Markdown.signed(errors.sum(&:ratio) / errors.size * 100), *coverage(errors), errors.size.to_s] if errors.any?
      end
      Accuracy::Markdown.table(["", "median %", "90th percentile %", "worst %", "mean, signed %", "in the predicted 95 % interval", "that is %", "cells"], rows)
    end

    # @return [String, nil] what formulas say of the same cells' throughput, beside the simulation
    def formulas
      rows = [["simulation", errors(:throughput), nil],
        *Comparison::FORMULAS.keys.map { |name| [name, @comparisons.filter_map { |comparison| comparison.formula_errors[name] }, name] }]
      rows = rows.filter_map { |title, errors, formula| formula_row(title, errors, formula) if errors.any? }
      Accuracy::Markdown.table(["throughput by", "median %", "90th percentile %", "worst %", "cells", "right picks", "worst pick loses %", "slots too many"], rows) if rows.any?
    end

    # @return [String, nil] what would have been picked, and what would have been lost
    def picks
      simulated = Picks.of(@comparisons)
      by_formula = Comparison::FORMULAS.keys.to_h { |name| [name, Picks.of(@comparisons, formula: name).to_h { |pick| [pick.group, pick] }] }
      rows = simulated.map do |pick|
        [pick.group, pick.needed.to_s, lost(pick, interval: true), *by_formula.each_value.map { |picks| lost(picks[pick.group]) }, pick.topologies_count.to_s]
      end
      Accuracy::Markdown.table(["cells", "measured", "simulation", *Comparison::FORMULAS.keys, "of"], rows) if rows.any?
    end

    # @return [String, nil] every cell; a star marks the disturbed ones
    def cells
      rows = @comparisons.map { |comparison| ["#{comparison.cell.key}#{" *" if comparison.disturbed}", *SHOWN.map { |metric| figures(comparison, metric) }] }
      Accuracy::Markdown.table(["cell", "requests/s", "p50 ms", "p99 ms", "GVL wait ms", "CPU per request ms"], rows) if rows.any?
    end

    # @return [String, nil] which cells were disturbed, and by what
    def disturbed
      lines = @comparisons.filter_map { |comparison| "- #{comparison.cell.key}: #{comparison.disturbed}" if comparison.disturbed }
      lines.join("\n") if lines.any?
    end

    private

    def errors(metric) = @comparisons.filter_map { |comparison| comparison.errors[metric] }

    # How many of the predicted intervals hold what was measured, and that share with its own interval.
    def coverage(errors)
      covered = errors.map(&:covered?).compact
      return %w[- -] if covered.empty?
      share = PumaTuner::Stats::Wilson.interval(covered.count(true), covered.size)
      ["#{covered.count(true)} of #{covered.size}", "#{self.class.percent(share.value)} (#{self.class.range_percent(share.low, share.high)})"]
    end

    def statistics(errors)
      ratios = errors.map { |error| error.ratio.abs }
      [Judge::MEDIAN, Judge::P90, Judge::WORST].map { |statistic| self.class.percent(statistic.call(ratios)) }
    end

    def formula_row(title, errors, formula)
      picks = Picks.of(@comparisons, formula:)
      [title, *statistics(errors), errors.size.to_s, picks.any? ? "#{picks.count(&:right?)} of #{picks.size}" : "-",
        self.class.percent(picks.map { |pick| pick.regret.value }.max), picks.any? ? picks.sum { |pick| [pick.spare_count, 0].max }.to_s : "-"]
    end

    # "2x3: 4.1 (0.0 to 7.2)"
    def lost(pick, interval: false)
      return "-" unless pick
      "#{pick.picked}: #{self.class.percent(pick.regret.value)}#{" (#{self.class.range_percent(pick.regret.low, pick.regret.high)})" if interval}"
    end

    # "measured (low to high) -> predicted (low to high), error"
    def figures(comparison, metric)
      error = comparison.errors[metric] or return comparison.measured.public_send(metric) ? "not predicted" : "-"
      scale = (metric == :throughput) ? 1 : PumaTuner::Units::NS_PER_MS
      predicted = error.predicted.is_a?(Numeric) ? number(error.predicted, scale) : range(error.predicted, scale)
      "#{range(error.measured, scale)} -> #{predicted}, #{Accuracy::Markdown.signed(error.ratio * 100)} %"
    end

    def range(estimate, scale) = "#{number(estimate.value, scale)} (#{number(estimate.low, scale)} to #{number(estimate.high, scale)})"

    def number(value, scale) = PumaTuner::Units.significant(value.fdiv(scale))
  end
end
