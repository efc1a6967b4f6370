# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # A lab's question, and its claims: as published, as measured here.
      class Claims < Section
        private

        def shown? = true

        def heading = "Lab #{@contents.lab}: #{Figures.printable(@contents.title)}"

        def lines
          rows = ClaimRows.of(@contents)
          [*paragraph(@contents.question), *quick, *rows.flat_map { |row| ["", *lines_of(row)] }]
        end

        def quick
          return [] unless @contents.quick
          note("The short form: few variants and rounds, so that intervals are wide. Without --quick it says more.")
        end

        def lines_of(row)
          measured = [row.measured, *("(#{row.basis})" if row.basis)].join(" ")
          outcome = [": ", @paint.call(row.outcome, Paint::OUTCOMES.fetch(row.style))] if row.outcome
          published = "#{"published " unless row.published.end_with?("expected")}#{Figures.printable(row.published)}; " unless row.published == "-"
          [*paragraph(row.text), "      #{published}here #{measured}#{outcome&.join}", *(paragraph(row.note, indent: 6).map { |line| @paint.call(line, :dim) } if row.note)]
        end
      end
    end
  end
end
