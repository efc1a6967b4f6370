# frozen_string_literal: true

require_relative "error_table"

module Validation
  # The tables that people read, but for those of errors. Pure.
  class Table
    MISSING_SHOWN = 12

    # Shown of each cell; the mean is only in the summaries.
    SHOWN = %i[throughput p50 p99 gvl_wait cpu].freeze

    # @param comparisons [Array<Comparison>]
    def initialize(comparisons)
      @comparisons = comparisons
    end

    # @param verdicts [Array<Verdict>]
    # @return [String]
    def self.targets(verdicts)
      rows = verdicts.map do |verdict|
        [verdict.claim, verdict.target, percent(verdict.value_ratio), range_percent(verdict.least_ratio, verdict.most_ratio), verdict.cells_count.to_s,
          ErrorTable::OUTCOMES.fetch(verdict.outcome)]
      end
      Accuracy::Markdown.table(["target", "it is", "came to %", "noise leaves open %", "cells", "outcome"], rows)
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
      lines = verdicts.select { |verdict| verdict.missed? && verdict.missing.any? }.flat_map do |verdict|
        shown = verdict.missing.first(MISSING_SHOWN).map { |key, ratio| "  - #{key}#{" (#{Accuracy::Markdown.signed(ratio * 100)} %)" unless key.include?(": ")}" }
        rest = verdict.missing.size - shown.size
        ["- #{verdict.claim}:", *shown, *("  - and #{rest} more" if rest.positive?)]
      end
      lines.join("\n") if lines.any?
    end

    # @return [String] ratios as per cent
    def self.percent(ratio) = ErrorTable.percent(ratio)

    # @return [String] both ends as per cent
    def self.range_percent(low, high) = (low && high) ? "#{percent(low)} to #{percent(high)}" : "-"

    # @return [String, nil] whose picks are right, ours and the formulas'
    def pickers
      rows = [["recommended", nil], *Comparison::FORMULAS.keys.map { |name| [name, name] }].filter_map do |title, formula|
        picks = Picks.of(@comparisons, formula:)
        next if picks.empty?
        [title, "#{picks.count(&:right?)} of #{picks.size}", percent(picks.map { |pick| pick.regret.value }.max), picks.sum { |pick| [pick.spare_count, 0].max }.to_s]
      end
      Accuracy::Markdown.table(["picked by", "right picks", "worst pick loses %", "slots too many"], rows) if rows.any?
    end

    # @return [String, nil] what would have been picked, and what would have been lost
    def picks
      by_formula = Comparison::FORMULAS.keys.to_h { |name| [name, Picks.of(@comparisons, formula: name).to_h { |pick| [pick.group, pick] }] }
      rows = Picks.of(@comparisons).map do |pick|
        [pick.group, pick.needed.to_s, lost(pick, interval: true), *by_formula.each_value.map { |picks| lost(picks[pick.group]) }, pick.topologies_count.to_s]
      end
      Accuracy::Markdown.table(["cells", "measured", "recommended", *Comparison::FORMULAS.keys, "of"], rows) if rows.any?
    end

    # @return [String, nil] how far servers with the same settings are apart, that were started one after the other
    def starts
      rows = @comparisons.group_by { |comparison| comparison.cell.subject }.filter_map do |subject, of_subject|
        spreads = of_subject.uniq(&:cell).filter_map { |comparison| comparison.measured.start_spread_ratio }
        [subject.key, percent(Judge::MEDIAN.call(spreads)), percent(spreads.max), spreads.size.to_s] if spreads.any?
      end
      Accuracy::Markdown.table(["cells", "starts apart, median %", "at most %", "cells"], rows) if rows.any?
    end

    # @return [String, nil] the CPU of what runs beside servers for them
    def beside
      rows = @comparisons.group_by { |comparison| comparison.cell.subject }.filter_map do |subject, of_subject|
        costs = of_subject.uniq(&:cell).filter_map { |comparison| comparison.measured.beside_cpu_ns }
        next if costs.empty?
        server = of_subject.filter_map { |comparison| comparison.measured.cpu&.value }
        [subject.key, number(Judge::MEDIAN.call(costs), PumaTuner::Units::NS_PER_MS), number(Judge::MEDIAN.call(server), PumaTuner::Units::NS_PER_MS)]
      end
      Accuracy::Markdown.table(["cells", "database and proxy, CPU per request ms", "server, CPU per request ms"], rows) if rows.any?
    end

    # @return [String, nil] every cell; a star marks the disturbed ones
    def cells
      rows = @comparisons.map { |comparison| ["#{comparison.name}#{" *" if comparison.disturbed}", *SHOWN.map { |metric| figures(comparison, metric) }] }
      Accuracy::Markdown.table(["cell", "requests/s", "p50 ms", "p99 ms", "GVL wait ms", "CPU per request ms"], rows) if rows.any?
    end

    # @return [String, nil] which cells were disturbed, and by what
    def disturbed
      lines = @comparisons.filter_map { |comparison| "- #{comparison.name}: #{comparison.disturbed}" if comparison.disturbed }
      lines.join("\n") if lines.any?
    end

    private

    def percent(ratio) = self.class.percent(ratio)

    # "2x3: 4.1 (0.0 to 7.2)"
    def lost(pick, interval: false)
      return "-" unless pick
      "#{pick.picked}: #{percent(pick.regret.value)}#{" (#{self.class.range_percent(pick.regret.low, pick.regret.high)})" if interval}"
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
