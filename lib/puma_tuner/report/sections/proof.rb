# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What the rounds showed, beside what was predicted: a table for each variant, and how to read it.
      class Proof < Base
        # @param verdict [Prove::Verdict]
        # @return [String] why there is no interval, nor anything shown
        def self.too_few(verdict)
          needed = verdict.rounds_needed
          "So few rounds show nothing: an interval of #{Units.percent(needed.level_ratio)} takes " \
            "#{needed.interval_count}."
        end

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @contents = contents
          @verdict = contents.verdict
        end

        # @return [Blocks::Section]
        def section
          Section.new(id: "compared", title: "Proof: measured against #{@verdict.baseline}", blocks: [
            *claims, *said_besides, ratios, *@contents.other_cells.flat_map { |cell| comparison(cell) },
            *(Note.new(notes.join(" ")) if notes.any?), Chart.new(:rounds, @contents), *predictions,
            Chart.new(:curves, @contents)
          ])
        end

        # @return [Array<String>] how to read the rows of all comparisons
        def notes
          return [] if @verdict.comparisons.empty?
          few = "Ratio: variant over #{@verdict.baseline}, with the range of the rounds. #{Proof.too_few(@verdict)}"
          [@verdict.rounds_needed.intervals ? interval : few, *least, *adjusted, *spikes]
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

        def said_besides
          [ProofWords.starved(@contents), ProofWords.behind(@contents)].compact.map { |text| Paragraph.new(text) }
        end

        # What was measured beside what was predicted, with the intervals drawn.
        def ratios
          groups = @contents.other_cells.to_h do |cell|
            rows = ComparisonRows.new(@contents, cell).rows.select(&:comparison)
            ["#{cell.variant} over #{@verdict.baseline}", rows.map { |row| ratio(row) }]
          end
          legend = [[:interval, "measured, with its interval"], [nil, "* primary metric"],
            *([[:other, "predicted"]] if predicted?)]
          chart = Chart.new(:ratios, {groups:, legend:, axis_names: ["← less than the baseline", "more →"],
            headings: ["measured", *("predicted" if predicted?), "outcome"],
            label: "Ratios measured in pairs with their intervals#{", and predicted ones" if predicted?}"})
          Figure.new(id: "ratios", title: predicted? ? "Measured beside predicted" : "By how much", blocks: [chart],
            reading: "each line is the interval in which a variant’s ratio to the baseline lies, from rounds " \
              "measured in pairs. If it stays clear of 1, a difference is shown, but in metrics other than the " \
              "primary one only where that holds out against their number. More is better of what is counted by the " \
              "second, less of all else.#{HELD if predicted?} The scale is logarithmic.")
        end

        HELD = " A diamond on the line is a prediction that held; off the line, one that did not."
        private_constant :HELD

        def ratio(row)
          ratio, predicted = row.comparison.ratio, row.comparison.predicted_ratio
          rounds = "#{Figures.level(ratio)} of #{Figures.counted(ratio.samples_count, "round")}"
          Ratio.new("#{row.metric.label}#{" *" if row.primary}", ratio, other: predicted, outcome: row.outcome,
            facts: [row.ratio, *(Units.times(predicted) if predicted?), row.words],
            title: "#{row.label}: measured #{row.ratio}, #{rounds}" \
              "#{", predicted #{Units.times(predicted)}" if predicted}; #{row.words}")
        end

        def predicted? = @verdict.comparisons.any?(&:predicted_ratio)

        def comparison(cell)
          rows = ComparisonRows.new(@contents, cell)
          names = [cell, @contents.baseline_cell].map { |one| Figures.variant(one) }
          title = Subheading.new(names.join(" over ")) if @contents.other_cells.size > 1
          columns = [Column.new(""), Column.new(@verdict.baseline, :figure, short: "baseline", middle: true),
            Column.new(cell.variant, :figure, short: "variant", middle: true), Column.new("ratio", :ratio),
            *(Column.new("predicted", :figure) if rows.predicted?),
            Column.new("MDE", :percent, "minimum detectable effect: the smallest change found with 80% power"),
            Column.new("outcome", :outcome)]
          table = Table.new(columns, rows.rows.map { |row| row(cell, row, rows.predicted?) }, style: "comparisons")
          [*title, table, *(Note.new(rows.notes.join(" ")) if rows.notes.any?)]
        end

        def row(cell, row, predicted)
          estimates = [@contents.baseline_cell, cell].map { |one| one&.estimates&.fetch(row.metric.name, nil) }
          comparison = row.comparison
          Row.new([row.metric.label, *estimates.map { |estimate| Cell.new(estimate, kind: row.metric) },
            comparison&.ratio, *(row.predicted if predicted), comparison&.mde_ratio,
            comparison && Cell.new(comparison.outcome, style: comparison.outcome)], style: (:primary if row.primary))
        end

        def interval
          predicted = ", and whether the prediction lies inside it" if predicted?
          "Ratio: variant over #{@verdict.baseline}, with #{levels} over paired rounds#{predicted}."
        end

        # Where it may decide at several looks, the primary metric has a level of its own.
        def levels
          primary, others = @verdict.comparisons.partition { |comparison| comparison.metric == @verdict.primary }
            .map { |some| some.map { |comparison| Figures.level(comparison.ratio) }.uniq }
          return "the #{Figures.list(primary | others)}" if primary == others || primary.empty? || others.empty?
          "the #{Figures.list(primary)} (#{@contents.primary.label}) and the #{Figures.list(others)} (all others)"
        end

        def least
          return unless @verdict.comparisons.any?(&:mde_ratio)
          ["MDE (minimum detectable effect): the smallest change these rounds would detect with 80% power."]
        end

        def adjusted
          needed = @verdict.rounds_needed
          return unless needed.others_count
          unless needed.others_enough
            few = "With this many metrics, significance takes at least #{needed.others_count} rounds."
          end
          ["The primary metric was declared beforehand; the others' outcomes are corrected for multiple comparisons " \
            "(Holm).",
            *few]
        end

        def spikes
          return if @verdict.findings.all? { |finding| finding.disagreeing.empty? }
          ["Where Student's t disagrees, single rounds were outliers; the rank test, which decides, is less " \
            "sensitive to them."]
        end

        # How far the forecasts missed.
        def predictions
          rows = @contents.cells.flat_map { |cell| predicted_rows(cell) }
          return [] if rows.empty?
          columns = [Column.new("variant", whole: true), Column.new("metric"), Column.new("measured", :figure),
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
