# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Where the difference comes from.
      class Causes < Section
        private

        def shown? = causes.any?

        def causes = @causes ||= @contents.verdict ? Cause.of(@contents) : []

        def heading = "Cause: where the time of the mean #{@contents.noun} went, and how that changed"

        def lines = causes.map { |cause| block(cause) }.inject { |lines, block| [*lines, "", *block] }

        def block(cause)
          table = table(["", "baseline", "variant", "difference", "of all"])
          [*cause.rows, cause.total].each { |row| table << row.words }
          [*paragraph("#{"#{cause.cell.variant}: " if causes.size > 1}#{cause.sentence}"), "", *table.lines, *note(cause.note)]
        end
      end
    end
  end
end
