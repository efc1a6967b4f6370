# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What a lab measured and counted, in full.
      class FindingTables < Section
        NAME_LENGTH = 56

        NUMBER = /\A[-+−–]?\d|\A-?\z/

        # @return [String, nil]
        def to_text
          @contents.tables.map { |table| [@paint.call(Figures.printable(table.title), :bold), *lines_of(table)].join("\n") }.join("\n\n") if @contents.tables.any?
        end

        private

        def lines_of(found)
          left = found.headings.each_index.reject { |index| found.rows.all? { |row| NUMBER.match?(row[index].to_s) } }
          table = table(found.headings.each_with_index.map { |heading, index| left.include?(index) ? "<#{heading}" : heading })
          found.rows.each { |row| table << row.map { |cell| shortened(cell, NAME_LENGTH) } }
          [*table.lines, *found.notes.flat_map { |text| note(text) }]
        end
      end
    end
  end
end
