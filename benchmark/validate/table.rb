# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "judge"

module Validation
  # The tables that people read. Pure.
  class Table
    OUTCOMES = {met: "met", missed: "**missed**", not_shown: "not shown"}.freeze
    TITLES = {throughput: "throughput", p50: "p50", p99: "p99", gvl_wait: "GVL wait", mean: "mean latency", cpu: "CPU per request"}.freeze
    MISSING_SHOWN = 12

    # Shown of each cell; the mean is only in the summary.
    SHOWN = %i[throughput p50 p99 gvl_wait cpu].freeze

    # @param comparisons [Array<Comparison>]
    def initialize(comparisons)
      @comparisons = comparisons
      @valid = comparisons.reject(&:invalid)
    end

    # @param verdicts [Array<Verdict>]
    # @return [String]
    def self.targets(verdicts)
      rows = verdicts.map do |verdict|
        [verdict.claim, percent(verdict.target_ratio), percent(verdict.value_ratio), percent(verdict.beyond_ratio), verdict.cells_count.to_s, OUTCOMES.fetch(verdict.outcome)]
      end
      Accuracy::Markdown.table(["target", "at most %", "came to %", "beyond the noise %", "cells", "outcome"], rows)
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

    # @return [String] each metric's errors over the valid cells
    def summary
      rows = TITLES.filter_map do |metric, title|
        errors = @valid.filter_map { |comparison| comparison.errors[metric] }
        row(title, errors) if errors.any?
      end
      Accuracy::Markdown.table(["", "median %", "90th percentile %", "worst %", "mean, signed %", "in the predicted interval %", "cells"], rows)
    end

    # @return [String, nil] what formulas say of the same cells' throughput, beside the simulation
    def formulas
      rows = [["simulation", @valid.filter_map { |comparison| comparison.errors[:throughput] }, nil],
        *Comparison::FORMULAS.keys.map { |name| [name, @valid.filter_map { |comparison| comparison.formula_errors[name] }, name] }]
      rows = rows.filter_map { |title, errors, formula| formula_row(title, errors, formula) if errors.any? }
      Accuracy::Markdown.table(["throughput by", "median %", "90th percentile %", "worst %", "cells", "right pick", "worst regret %"], rows) if rows.any?
    end

    # @return [String, nil] who would have been picked
    def picks
      rows = Picks.of(@valid).map do |pick|
        [pick.group, pick.predicted.to_s, pick.best.to_s, self.class.percent(pick.regret_ratio), self.class.percent(pick.beyond_ratio), pick.topologies_count.to_s]
      end
      Accuracy::Markdown.table(["cells", "predicted best", "measured best", "lost %", "beyond the noise %", "of"], rows, left_count: 3) if rows.any?
    end

    # @return [String, nil] every valid cell
    def cells
      rows = @valid.map { |comparison| [comparison.cell.key, *SHOWN.map { |metric| figures(comparison, metric) }] }
      Accuracy::Markdown.table(["cell", "requests/s", "p50 ms", "p99 ms", "GVL wait ms", "CPU per request ms"], rows) if rows.any?
    end

    # @return [String, nil] what does not count, and why
    def invalid
      lines = (@comparisons - @valid).map { |comparison| "- #{comparison.cell.key}: #{comparison.invalid}" }
      lines.join("\n") if lines.any?
    end

    private

    def row(title, errors)
      covered = errors.map(&:covered?).compact
      [title, *statistics(errors), Accuracy::Markdown.signed(errors.sum(&:ratio) / errors.size * 100),
        covered.empty? ? "-" : self.class.percent(covered.count(true).fdiv(covered.size)), errors.size.to_s]
    end

    def statistics(errors)
      ratios = errors.map { |error| error.ratio.abs }
      [Judge::MEDIAN, Judge::P90, Judge::WORST].map { |statistic| self.class.percent(statistic.call(ratios)) }
    end

    def formula_row(title, errors, formula)
      picks = Picks.of(@valid, formula:)
      [title, *statistics(errors), errors.size.to_s, picks.any? ? "#{picks.count(&:right?)} of #{picks.size}" : "-", self.class.percent(picks.map(&:regret_ratio).max)]
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
