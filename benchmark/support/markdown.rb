# frozen_string_literal: true

module Bench
  # Tables for a page that a terminal shows well, too.
  module Markdown
    class << self
      # @param headings [Array<String>]
      # @param rows [Array<Array<String>>]
      # @param left_count [Integer] columns of text, which stand left
      # @return [String]
      def table(headings, rows, left_count: 1)
        cells = [headings, *rows.map { |row| row.map { |cell| cell.gsub("|", "\\|") } }]
        widths = cells.transpose.map { |column| [*column.map(&:length), 2].max }
        first, *others = cells.map { |row| line(padded(row, widths, left_count)) }
        rule = widths.each_with_index.map { |width, index| (index < left_count) ? "-" * width : "#{"-" * (width - 1)}:" }
        [first, line(rule), *others].join("\n")
      end

      # @param number [Integer]
      # @return [String] "1,000,000"
      def grouped(number) = number.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")

      # @param percent [Float, nil]
      # @return [String] with as many digits as tell something
      def signed(percent)
        return "-" unless percent
        rounded = percent.round((percent.abs < 10) ? 2 : 0)
        format("%+.#{(percent.abs < 10) ? 2 : 0}f", rounded.zero? ? 0 : rounded)
      end

      private

      def padded(row, widths, left_count)
        row.each_with_index.map { |cell, index| (index < left_count) ? cell.ljust(widths[index]) : cell.rjust(widths[index]) }
      end

      def line(cells) = "| #{cells.join(" | ")} |"
    end
  end
end
