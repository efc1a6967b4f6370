# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What the rounds showed, beside what was predicted.
      class Proof < Section
        # "objects per iteration *"
        LABEL_LENGTH = 23

        private

        def shown? = @contents.verdict

        def verdict = @contents.verdict

        def heading = "Proof: measured against #{Figures.printable(verdict.baseline)}"

        def lines
          *tables, last_table = tables()
          blocks = [[*claims, *asked], *tables, [*last_table, *how_to_read], *([errors] if forecast_metrics.any?)]
          blocks.reject(&:empty?).inject { |lines, block| [*lines, "", *block] }
        end

        def claims
          cells = @contents.other_cells
          cells.empty? ? paragraph("There was one variant only.") : cells.flat_map { |cell| sentences(cell) }
        end

        # A whole tuning says it at its end.
        def asked
          expected = Summary.new(@contents).expected unless @contents.whole?
          expected ? paragraph("Asked for: #{expected}") : []
        end

        def tables
          cells = @contents.other_cells
          cells.map do |cell|
            [*(paragraph("#{cell.variant}:") if cells.size > 1), *table_of(ComparisonRows.new(@contents, cell))]
          end
        end

        def sentences(cell)
          findings = Findings.new(@contents, cell)
          style = Paint::OUTCOMES.fetch(findings.outcome, :bold)
          [*paragraph(findings.sentence).map { |line| @paint.call(line, style) }, *(paragraph(findings.others) if findings.others)]
        end

        def table_of(rows)
          columns = ["", "baseline", "variant", "ratio", *("predicted" if rows.predicted?), "shows from", "<outcome"]
          table = table(columns)
          rows.rows.each { |row| table << cells(row, rows.predicted?) }
          table.lines + note(rows.notes.join(" "))
        end

        def how_to_read = verdict.comparisons.any? ? note("* primary. #{ComparisonNotes.new(@contents).all.join(" ")}") : []

        def cells(row, predicted)
          [
            shortened("#{row.metric.label}#{" *" if row.primary}", LABEL_LENGTH), row.baseline, row.variant, row.ratio, *(row.predicted if predicted), row.least,
            row.outcome ? @paint.call(Figures.outcome(row.outcome), Paint::OUTCOMES.fetch(row.outcome, :bold)) : "-"
          ]
        end

        def forecast_metrics
          names = verdict.cells.flat_map { |cell| cell.predicted.keys }.uniq
          @contents.metrics.select { |metric| names.include?(metric.name) }
        end

        # How far the forecasts missed.
        def errors
          table = table(["", *forecast_metrics.flat_map { |metric| [shortened(metric.label, LABEL_LENGTH), "predicted"] }])
          @contents.cells.each { |cell| table << error_row(cell) }
          table.lines + note("Measured: middle and range of the rounds. Predicted: its error, predicted over measured.")
        end

        def error_row(cell)
          numbers = forecast_metrics.each_with_index.flat_map do |metric, index|
            estimate = cell.estimates[metric.name]
            [index.zero? ? Figures.estimate(metric, estimate) : Figures.number(metric, estimate&.value), Figures.error(cell.error_ratio(metric.name))]
          end
          [shortened(Figures.variant(cell), 30), *numbers]
        end
      end
    end
  end
end
