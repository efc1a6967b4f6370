# frozen_string_literal: true

require "csv"

module PumaTuner
  module Load
    # Values that stand for {{names}} in requests: CSV, whose first line names the columns (docs/reference/requests.md).
    #
    # path: named in errors; columns: names; rows: [{column => value}], none longer than its columns
    DataFile = Data.define(:path, :columns, :rows) do
      const_set(:ROWS_MAX, 100_000)

      # So many rows of 2,600 bytes each.
      const_set(:BYTES_MAX, 256 * Units::MIB)

      # @param path [String]
      # @raise [UsageError] naming the line
      def self.read(path)
        columns = nil
        rows = []
        lines_of(path) do |cells, number|
          columns ? rows << row_of(columns, cells, path, number) : columns = columns_of(cells, path)
          if rows.size > self::ROWS_MAX
            problem(path, number, "there are more than #{self::ROWS_MAX} rows; leave some out")
          end
        end
        if rows.empty?
          problem(path, 1, "it holds no values; write a line with the columns' names, and one for each row")
        end
        new(path:, columns:, rows:)
      end

      # Rows are as many as the longest list has; the others begin again. Values that belong together stay in one row.
      #
      # @param columns [Array<String>]
      # @param lists [Array<Array<Array<String>>>] rows of some of these columns each, in their order
      # @return [String] such a file
      def self.csv(columns, lists)
        CSV.generate do |csv|
          csv << columns
          lists.map(&:size).max.to_i.times { |place| csv << lists.flat_map { |rows| rows[place % rows.size] } }
        end
      end

      def self.lines_of(path)
        csv = CSV.new(text_of(path), skip_blanks: true)
        while (cells = csv.shift)
          yield cells.map(&:to_s), csv.lineno
        end
      rescue CSV::MalformedCSVError => error
        problem(path, error.line_number, error.message.sub(/ in line \d+\.?\z/, ""))
      end

      def self.text_of(path)
        text = AtomicFile.read_at_most(path, self::BYTES_MAX)
        unless text
          raise UsageError, "#{path} has more than #{Units.mebibytes(self::BYTES_MAX)}; leave out some of its rows " \
            "or columns"
        end
        text.delete_prefix(Document::BYTE_ORDER_MARK).tap do |text|
          unless text.valid_encoding?
            problem(path, text.lines.index { |line| !line.valid_encoding? }.succ, "it is not UTF-8 text")
          end
        end
      rescue SystemCallError => error
        raise UsageError, "cannot read #{path}: #{error.message}. " \
          "Give the path of a CSV file whose first line names its columns."
      end

      def self.columns_of(cells, path)
        names = cells.map(&:strip)
        problem(path, 1, "a column has no name") if names.include?("")
        twice = names.tally.key(names.tally.values.find { |count| count > 1 })
        problem(path, 1, "the column #{twice} is there twice") if twice
        names.freeze
      end

      def self.row_of(columns, cells, path, number)
        return columns.zip(cells).to_h.freeze if cells.size == columns.size
        problem(path, number, "it has #{cells.size} values for #{columns.size} columns")
      end

      def self.problem(path, number, text)
        raise(UsageError, "#{path}, line #{number}: #{text}. The format is described in docs/reference/requests.md.")
      end

      private_class_method :lines_of, :text_of, :columns_of, :row_of, :problem

      def initialize(path:, columns:, rows:) = super(path:, columns:, rows: rows.freeze)
    end
  end
end
