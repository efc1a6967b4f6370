# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Two profiles: what got cheaper, and what dearer.
      class CostDiff < Section
        ROWS_MAX = 20
        NAME_LENGTH = 52

        # @param diff [Profile::CostDiff]
        def initialize(diff, paint)
          super
          @figures = CostDiffFigures.new(diff)
          @diff = diff
        end

        private

        def shown? = true

        def heading = "Before and after"

        def lines
          [*%w[before after].flat_map { |time| paragraph(@figures.sentence(time), label: "  #{time}", indent: 10) },
            *paragraph("everything: #{@figures.change(@diff.total)}", indent: 2),
            *@figures.tables.flat_map { |title, rows| ["", @paint.call(title, :bold), *table_of(rows)] }, *note(@figures.notes)]
        end

        def table_of(rows)
          table = table(["name", "before", "after", "difference", "ratio", "<outcome"])
          rows.first(ROWS_MAX).each { |row| table << [shortened(row.name, NAME_LENGTH), row.before, row.after, row.difference, row.ratio, Figures.outcome(row.outcome)] }
          hidden_count = rows.size - ROWS_MAX
          table.lines + (hidden_count.positive? ? note("#{hidden_count} more in the JSON.") : [])
        end
      end
    end
  end
end
