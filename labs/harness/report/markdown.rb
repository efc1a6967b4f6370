# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # What a lab found: claims and conclusions open, tables folded away.
      class Markdown
        include Report::Markdown::Markup

        # @param finding [Lab::Finding]
        # @return [String]
        def call(finding)
          @finding = finding
          ["### Lab #{escaped(@finding.lab)}: #{escaped(@finding.title)}", escaped(@finding.question), *claims, *conclusions,
            *@finding.tables.map { |table| folded(table.title, body(table)) }, conditions, *repeat].join("\n\n") << "\n"
        end

        private

        def claims
          rows = ClaimRows.of(@finding)
          return [] if rows.empty?
          notes = rows.filter_map { |row| "- #{escaped(row.text)}: #{escaped(row.note)}" if row.note }
          [table(["claim", "published", "counts as that", "measured here", "outcome"], rows.map { |row| [row.text, row.published, row.margin || "-", row.measured, row.outcome || "-"] }),
            *ClaimRows.family(@finding)&.then { |text| escaped(text) }, *(notes.join("\n") if notes.any?)]
        end

        def conclusions = @finding.conclusions.any? ? [@finding.conclusions.map { |sentence| "- #{escaped(sentence)}" }.join("\n")] : []

        def conditions
          unknown = @finding.unknown.map { |what, reason| "Unknown: #{what}: #{reason}." }
          quick = "The short form, with wide intervals." if @finding.quick
          escaped(["#{Report::Facts.machine(@finding.machine)}, #{@finding.machine.kernel}; begun #{@finding.started_at}.", quick, *unknown].compact.join(" "))
        end

        def repeat = @finding.command ? [to_repeat(@finding.command)] : []
      end
    end
  end
end
