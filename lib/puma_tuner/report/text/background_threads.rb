# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What threads that serve no requests take from those that do.
      class BackgroundThreads < Section
        ROWS_MAX = 8

        HEADINGS = ["gvl", "cpu", "gc", "gvlwait"].freeze

        private

        def shown? = @contents.observation && rows.any?

        def all_rows = @all_rows ||= Background.rows(@contents.observation)

        def rows = all_rows.first(ROWS_MAX)

        def heading = "Background: threads that serve no requests, in % of #{Background.whole(@contents.observation)}"

        def lines
          numbers = rows.map { |row| [row.gvl, row.cpu, row.gc, row.gvl_wait].map { |ratio| Figures.share(ratio) } }
          room = name_room([HEADINGS, *numbers])
          table = table(["thread", *HEADINGS])
          rows.zip(numbers) { |row, cells| table << [shortened(row.name, room), *cells] }
          table.lines + note(["gvl: cpu and gc together, about what they held of it.", hidden].compact.join(" "))
        end

        def hidden
          count = all_rows.size - rows.size
          "#{Figures.counted(count, "thread")} more in the JSON." if count.positive?
        end
      end
    end
  end
end
