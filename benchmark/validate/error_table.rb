# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "judge"

module Validation
  # Errors of several groups of cells side by side: ours, beside what formulas say of the same throughput; how often intervals held, and how wide
  # they are; and the targets. Pure.
  class ErrorTable
    TITLES = {throughput: "throughput", p50: "p50", p99: "p99", gvl_wait: "GVL wait", mean: "mean latency", cpu: "CPU per request"}.freeze
    OUTCOMES = {met: "met", missed: "**missed**", noisy: "too noisy to say", unmeasured: "not measured"}.freeze

    # @param heading [String] of the groups' names
    # @param groups [Hash{String => Array<Comparison>}]
    # @param metrics [Array<Symbol>]
    # @param formulas [Boolean] whether with those
    # @param verdicts [Array<Verdict>] of groups that are classes of work; without any there are no targets to be shown
    def initialize(heading, groups, metrics: Judge::METRICS, formulas: true, verdicts: [])
      @heading = heading
      @groups = groups
      @metrics = metrics
      @formulas = formulas ? Comparison::FORMULAS.keys : []
      @verdicts = verdicts
    end

    # @return [String, nil] nil without any error to be told
    def table
      rows = @groups.flat_map { |name, comparisons| @metrics.filter_map { |metric| row(name, comparisons, metric) } }
      Accuracy::Markdown.table(headings, rows, left_count: 2) if rows.any?
    end

    # @param ratio [Float, nil]
    # @return [String] as per cent
    def self.percent(ratio) = ratio ? format("%.1f", ratio * 100) : "-"

    # As they are judged.
    # @param errors [Array<Error>]
    # @return [String] "2.1 / 8.0 / 14.2"
    def self.statistics(errors)
      ratios = errors.map { |error| Judge.forgiven?(error) ? 0.0 : error.ratio.abs }
      ratios.empty? ? "-" : [Judge::MEDIAN, Judge::P90, Judge::WORST].map { |statistic| percent(statistic.call(ratios)) }.join(" / ")
    end

    private

    def headings
      [@heading, "metric", "errors %", "mean, signed %", *@formulas, "in the 95 % interval", "its width ± %", *(["targets", "outcome"] if @verdicts.any?), "cells"]
    end

    def row(name, comparisons, metric)
      errors = comparisons.filter_map { |comparison| comparison.errors[metric] }
      return if errors.empty?
      [name, TITLES.fetch(metric), self.class.statistics(errors), Accuracy::Markdown.signed(errors.sum(&:ratio) / errors.size * 100), *formulas(comparisons, metric), coverage(errors),
        width(errors), *(targets(name, metric) if @verdicts.any?), errors.size.to_s]
    end

    def formulas(comparisons, metric)
      @formulas.map { |formula| (metric == :throughput) ? self.class.statistics(comparisons.filter_map { |comparison| comparison.formula_errors[formula] }) : "" }
    end

    # How many of the predicted intervals hold what was measured, and that share with its own interval.
    def coverage(errors)
      covered = errors.map(&:covered?).compact
      return "-" if covered.empty?
      share = PumaTuner::Stats::Wilson.interval(covered.count(true), covered.size)
      "#{covered.count(true)} of #{covered.size}: #{self.class.percent(share.value)} (#{self.class.percent(share.low)} to #{self.class.percent(share.high)})"
    end

    def width(errors)
      widths = errors.map(&:width_ratio).compact
      widths.empty? ? "-" : self.class.percent(Judge::MEDIAN.call(widths))
    end

    def targets(name, metric)
      verdicts = @verdicts.select { |verdict| verdict.kind == name && verdict.metric == metric }
      return ["-", "-"] if verdicts.empty?
      [Judge::TARGETS.fetch(name).select { |target| target.metric == metric }.map { |target| "#{target.statistic.title[/\A\S+/]} #{format("%g", target.ratio * 100)}" }.join(", "),
        verdicts.map { |verdict| OUTCOMES.fetch(verdict.outcome) }.uniq.join(", ")]
    end
  end
end
