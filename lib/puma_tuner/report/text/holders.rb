# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Who held the GVL while requests waited for it.
      class Holders < Section
        ROWS_MAX = 8
        HOLDERS_MAX = 4

        # Two names to a line.
        NAME_LENGTH = 30

        HEADINGS = ["endpoint", "gvlwait ms", "slices", "long holds", "share", "<of the wait, held by"].freeze

        private

        def shown? = @contents.observation && holders.any?

        def holders = @holders ||= GvlHolders.new(@contents.observation)

        def heading = "GVL: who held it while others waited for it"

        def lines
          table = table(HEADINGS)
          rows.each { |row| add(row, table) }
          table.lines + note(how_to_read)
        end

        # What all waited for tells what one alone waited for, too.
        def rows
          shown = holders.rows.first(ROWS_MAX)
          (holders.rows.size > 1) ? [*shown, holders.all] : shown
        end

        def add(row, table)
          row.largest(HOLDERS_MAX).each_with_index do |(name, ratio), index|
            facts = [shortened(row.name, NAME_LENGTH), Units.milliseconds(row.per_request_ns), row.slices, row.long_holds]
            table << [*(index.zero? ? facts : [nil] * 4), "#{Figures.share(ratio)}%", shortened(name, NAME_LENGTH)]
          end
        end

        def how_to_read
          hidden_count = holders.rows.size - ROWS_MAX
          [
            "gvlwait: mean per request. Slices: time slices that ended in an endpoint's own requests; long holds: times these",
            "held the GVL for 10 ms or more; both per 100 requests. A holder with many of them is cured by shorter computations",
            "or a shorter time slice, one with none by fewer threads in a worker.",
            ("#{Figures.counted(hidden_count, "row")} more in the JSON." if hidden_count.positive?)
          ].compact.join(" ")
        end
      end
    end
  end
end
