# frozen_string_literal: true

require "test_helper"

# The tables of claims in the labs' README pages: each outcome there is what the numbers beside it give, and no other word.
#
# A column "outcome" is of the column before it, whose cells begin or end with a ratio and its interval, "0.68x (0.67–0.69)", or say
# "withdrawn". The column "taken as" has what was published, as a ratio with its margin: "0.7x ±10%", "5–15x ±10%", "above 1x", "–".
class ReadmeOutcomesTest < TunerTest
  include PumaTuner

  NUMBER = /\d+(?:\.\d+)?/
  MEASURED = /(#{NUMBER})x \((#{NUMBER})–(#{NUMBER})\)/
  TAKEN_AS = /\A(?:(#{NUMBER})–)?(#{NUMBER})x ±(#{NUMBER})%\z/
  DIRECTIONS = {"above 1x" => Lab::Claim::HIGHER, "below 1x" => Lab::Claim::LOWER, "–" => nil}.freeze
  WITHDRAWN = "withdrawn"

  # A cell of a column "outcome", with what it follows from.
  Printed = Data.define(:place, :taken_as, :measured, :word) do
    # @return [String] the word that the numbers give; a dash of what has no ratio
    def computed
      ratio = MEASURED.match(measured)
      return "–" unless ratio || measured == WITHDRAWN
      estimate = ratio && ratio.captures.map(&:to_f).then { |value, low, high| Stats::Estimate.new(value:, low:, high:, level_ratio: 0.95, samples_count: 6) }
      Lab::FindingReport::ClaimRows.outcome(Lab::Claim.of_ratio("", estimate, published_ratio:))
    end

    def published_ratio
      return DIRECTIONS.fetch(taken_as) unless (found = TAKEN_AS.match(taken_as))
      low, high = found.captures.first(2)
      low ? low.to_f..high.to_f : high.to_f
    end
  end

  def readmes = Dir[File.expand_path("../../labs/*/README.md", __dir__)]

  # @return [Array<Array<Array<String>>>] tables, of rows, of cells
  def tables(text)
    text.lines.map(&:strip).chunk_while { |one, other| one.start_with?("|") && other.start_with?("|") }.select { |lines| lines.size > 2 }
      .map { |lines| lines.reject { |line| line.match?(/\A\|[-|: ]+\|\z/) }.map { |line| line.delete_prefix("|").delete_suffix("|").split("|", -1).map(&:strip) } }
  end

  def printed(path)
    tables(File.read(path, encoding: "UTF-8")).flat_map do |heading, *rows|
      columns = heading.each_index.select { |index| heading[index] == "outcome" }
      rows.product(columns).map do |cells, column|
        Printed.new(place: "#{path}: #{cells.first}", taken_as: cells.fetch(heading.index("taken as")), measured: cells[column - 1], word: cells[column])
      end
    end
  end

  test "every outcome is the one that the numbers beside it give" do
    all = readmes.flat_map { |path| printed(path) }
    assert_operator all.size, :>, 60
    wrong = all.reject { |one| one.word == one.computed }
    assert_empty wrong.map { |one| "#{one.place}: #{one.measured}, taken as #{one.taken_as}: #{one.computed}, not #{one.word}" }
  end

  test "every margin is the declared one" do
    readmes.flat_map { |path| printed(path) }.each do |one|
      margin = TAKEN_AS.match(one.taken_as)&.captures&.last or next
      assert_equal margin, format("%g", (Lab::Margin.of(one.published_ratio).ratio * 100).round(1)), one.place
    end
  end

  test "no interval stands beside a word of an outcome anywhere else" do
    words = Lab::FindingReport::ClaimRows::WORDS.values - %w[shown exact]
    readmes.each do |path|
      tables(File.read(path, encoding: "UTF-8")).each do |heading, *rows|
        next if heading.include?("outcome")
        rows.flatten.each { |cell| refute_includes words, cell, path }
      end
    end
  end
end
