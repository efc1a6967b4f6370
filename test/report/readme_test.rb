# frozen_string_literal: true

require "test_helper"

# What README shows of the terminal is what is printed today: the same headings, columns and rows, with other numbers in them. Held
# against the golden files, which hold what is printed.
class ReadmeTest < TunerTest
  README = File.expand_path("../../README.md", __dir__)
  GOLDEN = Dir[File.expand_path("golden/*.txt", __dir__)].map { |path| File.read(path) }.freeze

  # A page of the terminal by what a reader goes by: `headings` of sections; `threads` lines; `tables`: their columns, and the forms of
  # their rows under these.
  Form = Data.define(:headings, :threads, :tables) do
    # @param text [String] as printed
    # @return [Form]
    def self.of(text)
      lines = text.lines(chomp: true).map(&:rstrip)
      sections, threads = lines.grep(/\A\w/).partition { |line| !line.start_with?("puma ") }
      new(headings: sections.map { |line| line[/\A[^:]+/] }.uniq, threads: threads.map { |line| numberless(line) }.uniq, tables: tables(lines))
    end

    # A table has its columns' names above it, far to the right of where its rows begin, and ends with an empty line or a note.
    def self.tables(lines)
      columns = nil
      lines.each_with_object({}) do |line, found|
        if line.match?(/\A {6,}[a-z]/i) && !line.gsub(/\bp\d+/, "").match?(/\d/) && !line.match?(/[.;,:]\z/)
          # A mark in the last column, of a row above.
          next if columns && found[columns].any?
          found[columns = line.split.join(" ")] ||= []
        elsif line.empty? then columns = nil
        elsif columns && line.match?(/\A {2,3}\S.*\d/) && !line.match?(/[.;,:]\z/) then found[columns] |= [row(line)]
        end
      end
    end

    # Without its name and the words at its end, which may be any; a dash stands for a number that there is not.
    def self.row(line)
      cells = line.strip.sub(/\A(\S+( [^\s\d]\S*)*)\s+/, "")
      numberless(cells.gsub(/(?<=\s)-(?=\s|\z)/, "0")).gsub(/\b(ms|µs|ns|s|MiB|GiB|KiB)(?=\s|\z)/, "unit").sub(/( [a-z]+)+\z/, "")
    end

    def self.numberless(line) = line.gsub(/[+-]?\d[\d.,]*/, "N").split.join(" ")
    private_class_method :tables, :row, :numberless
  end

  PRINTED = GOLDEN.map { |text| Form.of(text) }.freeze

  # @return [Array<String>] what of an example is not printed so
  def stale(text)
    form = Form.of(text)
    rows = form.tables.flat_map do |columns, forms|
      same = PRINTED.filter_map { |printed| printed.tables[columns] }
      same.empty? ? ["columns: #{columns}"] : (forms - same.flatten.flat_map { |row| [row, *without_a_cell(row)] }).map { |row| "row: #{row} (printed: #{same.flatten.uniq.join(" | ")})" }
    end
    (form.headings - PRINTED.flat_map(&:headings)).map { |heading| "heading: #{heading}" } + (form.threads - PRINTED.flat_map(&:threads)).map { |line| "thread: #{line}" } + rows
  end

  # Too few responses have no p99, whose cell is empty then.
  def without_a_cell(row) = row.enum_for(:scan, /N \(N–N\) /).map { Regexp.last_match.then { |cell| cell.pre_match + cell.post_match } }

  # @return [Array<String>] README's examples of what is printed
  def self.examples = File.read(README).scan(/^```text\n(.*?)^```$/m).flatten

  test "README has examples of forecasts and of threads' lines" do
    shown = self.class.examples.map { |text| Form.of(text) }
    assert_includes shown.flat_map(&:headings), "Predicted"
    refute_empty shown.last.threads
    assert_equal 1, shown.flat_map { |form| form.tables.keys }.size
    shown.flat_map { |form| form.tables.values }.each { |rows| refute_empty rows }
  end

  examples.each_with_index do |text, index|
    test "README's example #{index + 1} is what is printed today" do
      assert_empty stale(text)
    end
  end

  test "whatever is printed passes, with other numbers, and with rows left out" do
    GOLDEN.each { |text| assert_empty stale(text) }
    tuning = File.read(File.expand_path("golden/tuning.txt", __dir__))
    assert_empty stale(tuning.gsub("247 (244–250)", "1,247 (1,244–1,250)").lines.reject { |line| line.match?(/\A  2x[45]/) }.join)
  end

  test "another column, another row, another heading and another line of a thread are noticed" do
    tuning = File.read(File.expand_path("golden/tuning.txt", __dir__))
    {
      /^( +requests\/s +p50 ms +p99 ms) +cores/ => "\\1  gvlwait  cores", /^(  1x1 .*) 0\.38/ => "\\1  0.00  0.38", /^(   measured .*\))( +\d+ +error)/ => "\\1 7.0\\2",
      /^Proof: / => "Verdict: ", /^(puma srv tp 001: .*) io:/ => "\\1 wait:", /^(  p99 .*)  6\.0%/ => "\\1"
    }.each do |pattern, other|
      changed = tuning.sub(pattern, other)
      refute_equal tuning, changed
      assert_equal 1, stale(changed).size, pattern.to_s
    end
  end
end
