# frozen_string_literal: true

module PumaTuner
  module Report
    class Markdown
      # A verdict's tables: the comparisons, which stand open, and what they rest on.
      class Proof
        # @param contents [Contents] with a verdict
        def initialize(contents)
          @contents = contents
        end

        # @return [Array<Table>] one for each variant
        def comparisons
          @contents.other_cells.map do |cell|
            rows = ComparisonRows.new(@contents, cell)
            predicted = rows.predicted?
            Table.new(title: Figures.variant(cell), notes: rows.notes,
              headings: ["", @contents.verdict.baseline, cell.variant, "ratio", *("predicted" if predicted), "shows from", "outcome"],
              rows: rows.rows.map { |row| [row.label, row.baseline, row.variant, row.ratio, *(row.predicted if predicted), row.least, row.words] })
          end
        end

        # @return [Array<Table>] without those that have nothing to show
        def foundations = [*causes, ran, conditions, noise].compact

        private

        def causes
          Cause.of(@contents).map do |cause|
            rows = [*cause.rows, cause.total].map(&:words)
            Table.new(title: "Where the difference of #{cause.cell.variant} comes from", notes: [cause.note], rows:,
              headings: ["", @contents.verdict.baseline, cause.cell.variant, "difference", "of all"])
          end
        end

        def ran
          ran = WhatRan.new(@contents)
          return unless ran.any?
          declared = ran.factors.map { |row| ["#{row.key} (declared)", *row.values.map { |value| value || "-" }] }
          rows = declared + ran.differing.map { |row| [row.key, *row.values.map { |value| value || "-" }] }
          Table.new(title: "What ran", headings: ["", *ran.names], rows:,
            notes: ["The same in all: #{Figures.counted(ran.same.size, "fact")} more."])
        end

        def conditions
          how = HowMeasured.new(@contents)
          lists = {"void round" => how.voids, "not steady" => how.unsteady, "remark" => how.remarks}
          rows = how.table.to_a + lists.flat_map { |label, texts| texts.map { |text| [label, text] } }
          Table.new(title: "How it was measured", headings: ["", ""], rows:, notes: [])
        end

        def noise
          rows = HowMeasured.new(@contents).noise.map { |noise| noise.to_h.values }
          return if rows.empty?
          Table.new(title: "Noise: two equal variants", headings: ["", "ratio", "of a pair", "shows from"], rows:, notes: [])
        end
      end
    end
  end
end
