# frozen_string_literal: true

module Overhead
  # Series and verdicts as Markdown tables, aligned so that a terminal shows them well, too. Pure.
  module Table
    OUTCOMES = {met: "met", missed: "**missed**", not_shown: "not shown"}.freeze

    class << self
      # @param series [Series]
      # @return [String]
      def series(series)
        rows = series.variants.map { |variant| [variant.name, *figures(series, variant), count(series, variant)] }
        headings = ["", "median #{series.unit}", "fastest", "more than none", "interval", "more, by the fastest", "processes"]
        [table(headings, rows), *failures(series)].join("\n\n")
      end

      # @param verdicts [Array<Verdict>]
      # @return [String]
      def verdicts(verdicts)
        rows = verdicts.map do |verdict|
          [verdict.claim, figure(verdict.estimate&.value, signed: true, unit: verdict.unit), interval(verdict.estimate),
            figure(verdict.noise_width, unit: verdict.unit), OUTCOMES.fetch(verdict.outcome)]
        end
        table(["target", "measured", "interval", "noise", "outcome"], rows)
      end

      # What the intervals of these series are.
      # @return [String]
      def level(all_series)
        estimates = all_series.flat_map { |series| series.variants.filter_map { |variant| series.difference(variant) } }
        levels = estimates.map(&:level_ratio).uniq
        return "Intervals are ranges: with so few rounds, 95 % can't be had." if levels.include?(nil) || levels.empty?
        format("Intervals cover %.1f %% or more.", levels.min * 100)
      end

      private

      def figures(series, variant)
        estimate = (series.difference(variant) unless variant == Variant::NONE)
        fastest = (series.fastest_difference(variant) unless variant == Variant::NONE)
        [figure(series.median(variant)), figure(series.values(variant).min), figure(estimate&.value, signed: true),
          interval(estimate), figure(fastest, signed: true)]
      end

      def count(series, variant)
        done, failed = series.values(variant).size, series.failures(variant).size
        failed.zero? ? done.to_s : "#{done} of #{done + failed}"
      end

      def failures(series)
        series.variants.flat_map do |variant|
          series.failures(variant).tally.map do |reason, times|
            "#{variant.name} failed #{times} time#{"s" if times > 1}: #{reason}."
          end
        end
      end

      def interval(estimate)
        estimate ? "#{figure(estimate.low, signed: true)} to #{figure(estimate.high, signed: true)}" : "-"
      end

      # Tenths where they can be told apart from noise.
      def figure(number, signed: false, unit: nil)
        return "-" unless number
        [format("%#{"+" if signed}.#{(number.abs < 1_000) ? 1 : 0}f", number), unit].compact.join(" ")
      end

      def table(headings, rows)
        cells = [headings, *rows.map { |row| row.map { |cell| cell.gsub("|", "\\|") } }]
        widths = cells.transpose.map { |column| column.map(&:length).max }
        first, *others = cells.map do |text, *numbers|
          line(text.ljust(widths.first), numbers.zip(widths.drop(1)).map { |cell, width| cell.rjust(width) })
        end
        rule = line("-" * widths.first, widths.drop(1).map { |width| "#{"-" * (width - 1)}:" })
        [first, rule, *others].join("\n")
      end

      def line(first, others) = "| #{[first, *others].join(" | ")} |"
    end
  end
end
