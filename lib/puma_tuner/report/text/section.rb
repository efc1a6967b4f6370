# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Base of the sections: each has a heading, and lines when there is something to show.
      class Section
        # @param contents [Contents]
        # @param paint [Paint]
        def initialize(contents, paint)
          @contents = contents
          @paint = paint
        end

        # @return [String, nil] nil when there is nothing to show
        def to_text
          return unless shown?
          [@paint.call(heading, :bold), *lines].join("\n")
        end

        private

        def shown? = raise(InvariantError, "#{self.class} does not say when it is shown")

        def heading = raise(InvariantError, "#{self.class} has no heading")

        def lines = raise(InvariantError, "#{self.class} has no lines")

        def table(headings) = Table.new(headings, width: WIDTH, paint: @paint)

        # @return [Array<String>] the text under an indent, or under a label that stands where the indent is
        def paragraph(text, label: "", indent: 2)
          Figures.wrap(Figures.printable(text), WIDTH - indent).each_with_index.map do |line, index|
            "#{index.zero? ? @paint.call(label.ljust(indent), :dim) : " " * indent}#{line}"
          end
        end

        # Names take what the numbers beside them leave when these stand close.
        #
        # @param rows [Array<Array<String>>] headings and numbers
        # @param least [Integer] less of a name would tell nothing
        # @return [Integer]
        def name_room(rows, least: 8)
          taken = rows.transpose.sum { |cells| cells.map(&:length).max + 1 }
          [WIDTH - Table::INDENT.length - taken, least].max
        end

        # @return [Array<String>] small print
        def note(text) = paragraph(text).map { |line| @paint.call(line, :dim) }

        def shortened(name, length) = Figures.shortened(name, length)
      end
    end
  end
end
