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
          [*paragraph(@contents.question), *quick, *rows.flat_map { |row| ["", *lines_of(row)] }, *ClaimRows.family(@contents)&.then { |text| ["", *note(text)] }]
        end

        def quick
          return [] unless @contents.quick
          note("The short form: few variants and rounds, so that intervals are wide. Without --quick it says more.")
        end

        # What was published has a line of its own where its margin stands beside it.
        def lines_of(row)
          measured = ["here", row.measured, *("(#{row.basis})" if row.basis)].join(" ")
          outcome = [": ", @paint.call(row.outcome, Paint::OUTCOMES.fetch(row.style))].join if row.outcome
          beside = published(row)
          told = row.margin ? ["      #{beside}", "      #{measured}#{outcome}"] : ["      #{"#{beside}; " if beside}#{measured}#{outcome}"]
          [*paragraph(row.text), *told, *(paragraph(row.note, indent: 6).map { |line| @paint.call(line, :dim) } if row.note)]
        end

        def published(row)
          return if row.published == "-"
          "#{"published " unless row.published.match?(/\A[\d,]+ expected\z/)}#{Figures.printable(row.published)}#{" (#{row.margin})" if row.margin}"
        end
      end
    end
  end
end
