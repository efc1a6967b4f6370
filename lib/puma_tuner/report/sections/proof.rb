# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What the rounds showed, beside what was predicted: a table for each variant, and how to read it.
      class Proof < Base
        # @param contents [Contents] with a verdict
        def initialize(contents)
          @contents = contents
          @verdict = contents.verdict
        end

        # @return [Blocks::Section]
        def section
          Section.new(id: "compared", title: "Proof: measured against #{@verdict.baseline}", blocks: [
            *claims, Chart.new(:ratios, @contents), *@contents.other_cells.flat_map { |cell| comparison(cell) },
            *(Note.new(notes.join(" ")) if @verdict.comparisons.any?), Chart.new(:rounds, @contents), *predictions,
            Chart.new(:curves, @contents)
          ])
        end

        private

        # Of one variant it stands in the report's first sentences.
        def claims
          cells = @contents.other_cells
          return [Paragraph.new("There was one variant only.")] if cells.empty?
          return [] if cells.one?
          cells.flat_map do |cell|
            findings = Findings.new(@contents, cell)
            [Paragraph.new(findings.sentence, style: findings.outcome),
              *(Paragraph.new(findings.others) if findings.others)]
          end
        end

        def comparison(cell)
          rows = ComparisonRows.new(@contents, cell)
          if @contents.other_cells.size > 1
            title = Subheading.new("#{Figures.variant(cell)} over " \
              "#{Figures.variant(@contents.baseline_cell)}")
          end
          columns = [Column.new(""), Column.new(@verdict.baseline, :figure, short: "baseline"),
            Column.new(cell.variant, :figure, short: "variant"), Column.new("ratio", :ratio),
            *(Column.new("predicted", :figure) if rows.predicted?),
            Column.new("shows from", :percent, "the smallest change that such rounds show 8 times in 10"),
            Column.new("outcome", :outcome)]
          table = Table.new(columns, rows.rows.map { |row| row(cell, row, rows.predicted?) }, style: "comparisons")
          [*title, table, *(Note.new(rows.notes.join(" ")) if rows.notes.any?)]
        end

        def row(cell, row, predicted)
          estimates = [@contents.baseline_cell, cell].map { |one| one&.estimates&.fetch(row.metric.name, nil) }
          comparison = row.comparison
          Row.new([row.metric.label, *estimates.map { |estimate| Cell.new(estimate, kind: row.metric) },
            comparison&.ratio, *(row.predicted if predicted), comparison&.smallest_effect_ratio,
            comparison && Cell.new(comparison.outcome, style: comparison.outcome)], style: (:primary if row.primary))
        end

        def notes = ComparisonNotes.new(@contents).all

        # How far the forecasts missed.
        def predictions
          rows = @contents.cells.flat_map { |cell| predicted_rows(cell) }
          return [] if rows.empty?
          columns = [Column.new("variant"), Column.new("metric"), Column.new("measured", :figure),
            Column.new("predicted", :figure), Column.new("error", :error)]
          [Aside.new([Table.new(columns, rows, caption: "Measured and predicted, variant by variant"),
            Note.new("Measured: middle and range of the rounds. Error: predicted over measured.")])]
        end

        def predicted_rows(cell)
          @contents.metrics.select { |metric| cell.predicted[metric.name] }.map do |metric|
            Row.new([Figures.variant(cell), metric.label, Figures.estimate(metric, cell.estimates[metric.name]),
              Figures.number(metric, cell.predicted[metric.name]), cell.error_ratio(metric.name)])
          end
        end
      end
    end
  end
end
