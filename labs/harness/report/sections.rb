# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # A lab's question, its claims as published and as measured here, what was measured and counted in full, and what
      # it rests on.
      class Sections < Report::Sections::Base
        # A lab has charts and tables of its own.
        Blocks = Report::Blocks
        private_constant :Blocks

        # Columns of which this is true stand right.
        NUMBER = /\A[-+−–]?\d|\A-?\z/

        SHORT_FORM = "; the short form: few variants and rounds, so that intervals are wide"

        # Of a table's texts in a terminal.
        LENGTH = 56

        # @param finding [Lab::Finding]
        def initialize(finding)
          @finding = finding
        end

        # @return [Blocks::Page]
        def page
          Page.new(title: @finding.title, lead: "Lab #{@finding.lab}", kicker: "PumaTuner lab #{@finding.lab}",
            date: @finding.started_at, command: @finding.command,
            conditions: "#{Report::Facts.machine(@finding.machine)}#{SHORT_FORM if @finding.quick}.",
            head: [Paragraph.new(@finding.question), List.new(@finding.conclusions)],
            parts: [
              Part.new(id: "claims", title: "Claimed, and measured here", sections: [claims]),
              Part.new(id: "charts", title: "In pictures", sections: [charts]),
              Part.new(id: "tables", title: "In numbers",
                sections: @finding.tables.each_with_index.map { |table, index| table(table, index + 1) }),
              Part.new(id: "methodology", title: "Methodology", sections: [foundations])
            ])
        end

        private

        def claims
          rows = ClaimRows.of(@finding)
          columns = [Column.new("claim"), Column.new("published", :figure), Column.new("measured here", :figure),
            Column.new("outcome", :outcome)]
          table = Blocks::Table.new(columns, rows.map { |row| claim(row) }, style: "claims",
            narrow: rows.map { |row| narrow(row) })
          family = ClaimRows.family(@finding)
          Section.new(id: "claimed", title: "Claimed, and measured here",
            blocks: [ratios, table, *(Note.new(family) if family)])
        end

        # As they were claimed, and as they were measured.
        def ratios
          told = @finding.claims_by_interval.map { |claim| ratio(claim, ClaimRows.row(claim)) }
          chart = Blocks::Chart.new(:ratios, {groups: {nil => told}, headings: ["measured here"], axis_names: [],
            legend: [[:interval, "measured here, with its interval"], [:other, "claimed"]],
            label: "Ratios as claimed, and as measured here with their intervals"})
          Figure.new(id: "claim-ratios", blocks: [chart],
            reading: "each line is the interval in which the ratio lies on this machine, from rounds measured in " \
              "pairs. A diamond is what was claimed; it is reproduced when the whole line lies within its margin, " \
              "which the table has. Published figures come from other machines, so only ratios are held against each " \
              "other. The scale is logarithmic.")
        end

        def ratio(claim, told)
          Ratio.new(claim.text, claim.measured, other: claim.published_ratio, outcome: told.style,
            facts: [told.measured],
            title: "#{claim.text}: claimed #{told.published}, here #{told.measured}, #{told.basis}; #{told.outcome}")
        end

        def claim(row)
          Row.new([Cell.new(row.text, note: row.note), Cell.new(row.published, note: row.margin),
            Cell.new(row.measured, note: row.basis), row.outcome ? Cell.new(row.outcome, style: row.style) : "-"])
        end

        # A claim is a sentence, and beside its numbers there is no room for it in a terminal.
        def narrow(row)
          published = "#{row.published}#{" (#{row.margin})" if row.margin}" unless row.published == "-"
          here = "#{row.measured}#{" (#{row.basis})" if row.basis}#{": #{row.outcome}" if row.outcome}"
          Article.new(row.text, [Labelled.new({"published" => published, "here" => here, "note" => row.note},
            style: :list)], style: row.style)
        end

        def charts = Section.new(id: "pictures", title: "In pictures", blocks: [Blocks::Chart.new(:finding, @finding)])

        def table(table, number)
          columns = table.headings.each_with_index.map { |heading, index|
            Column.new(heading, kind(table, index),
              length: LENGTH)
          }
          Section.new(id: "table-#{number}", title: table.title, open: false,
            blocks: [Blocks::Table.new(columns, table.rows.map { |row| Row.new(row) }, style: "dense"),
              *table.notes.map { |text| Note.new(text) }])
        end

        def kind(table, index)
          (index.positive? && table.rows.all? { |row| NUMBER.match?(row[index].to_s) }) ? :figure : :text
        end

        def foundations
          rounds = @finding.verdicts.map do |name, verdict|
            facts = Report::Sections::Methodology.new(Report::Contents.of(verdict)).table.except("machine")
            Aside.new([Folded.new("How it was measured: #{name}", [Labelled.new(facts)])])
          end
          machine = @finding.machine
          facts = {"machine" => [Report::Facts.machine(machine), Units.mebibytes(machine.memory_bytes),
            machine.kernel].join(", "), "begun" => @finding.started_at,
                   "unknown" => @finding.unknown.map { |what, reason| "#{what}: #{reason}" }}
          Section.new(id: "how-measured", title: "Methodology", blocks: [*rounds, Labelled.new(facts, style: :list)])
        end
      end
    end
  end
end
