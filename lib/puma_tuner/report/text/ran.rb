# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What was declared, and what ran.
      class Ran < Section
        # Side by side no more variants than these; of more it is told who has what.
        COLUMNS_MAX = 4

        KEY_LENGTH = 30

        private

        def shown? = ran&.any?

        def ran = @ran ||= @contents.verdict && WhatRan.new(@contents)

        def heading = "What ran"

        def lines
          tables = [["declared", ran.factors], ["what ran", ran.differing]].select { |_, rows| rows.any? }.map { |title, rows| table_of(title, rows) }
          [*tables.inject { |lines, table| [*lines, "", *table] }, *note(small_print)]
        end

        def table_of(title, rows)
          return rows.flat_map { |row| who_has_what(title, row) } if ran.names.size > COLUMNS_MAX
          # So wide that all variants have room beside the keys.
          room = (WIDTH - KEY_LENGTH - Table::INDENT.length) / ran.names.size - 2
          table = table([title, *ran.names.map { |name| "<#{shortened(name, room)}" }])
          rows.each { |row| table << [shortened(row.key, KEY_LENGTH), *row.values.map { |value| value ? shortened(value, room) : "-" }] }
          table.lines
        end

        def who_has_what(title, row)
          names = ran.names.zip(row.values).group_by(&:last).map { |value, pairs| "#{value || "-"} (#{pairs.map(&:first).join(", ")})" }
          paragraph("#{title}, #{row.key}: #{names.join("; ")}")
        end

        def small_print
          told = ran.silent.map { |name| "Nothing can be read from inside #{name}." }
          told.unshift("The same in all: #{Figures.counted(ran.same.size, "fact")} more, in the HTML report and in the JSON.") if ran.same.any?
          told.join(" ")
        end
      end
    end
  end
end
