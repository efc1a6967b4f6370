# frozen_string_literal: true

module PumaTuner
  module Report
    # Aligned columns for a terminal. The first column is text and stands left, numbers stand right; a heading that
    # begins with "<" makes its column stand left, too.
    class Columns
      INDENT = "  "

      # @param headings [Array<String>]
      # @param width [Integer, nil] where lines get longer, columns move together
      # @param paint [Paint] for the headings
      def initialize(headings, width: nil, paint: Paint.new(false))
        @headings = headings.map { |heading| heading.delete_prefix("<") }
        @left = headings.each_index.select { |index| index.zero? || headings[index].start_with?("<") }
        @width = width
        @paint = paint
        @rows = []
      end

      # @param cells [Array<String, nil>] nil leaves the place empty
      # @return [self]
      def <<(cells)
        @rows << cells.map { |cell| cell || "" }
        self
      end

      # @return [Array<String>] headings and rows, without anything at their ends
      def lines
        wide = lines_with("  ")
        (@width && wide.any? { |line| width(line) > @width }) ? lines_with(" ") : wide
      end

      private

      def lines_with(gap)
        widths = [@headings, *@rows].transpose.map { |cells| cells.map { |cell| width(cell) }.max }
        [@paint.call(line(@headings, widths, gap), :dim), *@rows.map { |row| line(row, widths, gap) }]
      end

      # Colour takes no room.
      def width(cell) = Paint.strip(cell).length

      def line(cells, widths, gap)
        padded = cells.each_with_index.map do |cell, index|
          room = " " * (widths[index] - width(cell))
          @left.include?(index) ? cell + room : room + cell
        end
        "#{INDENT}#{padded.join(gap)}".rstrip
      end
    end
  end
end
