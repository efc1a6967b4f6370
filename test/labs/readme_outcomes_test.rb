# frozen_string_literal: true

require "test_helper"

# The tables of claims in the labs' README pages: each outcome there is what the numbers beside it give, and no other word.
#
# A column "outcome" is of the column before it, whose cells begin or end with a ratio and its interval, "0.68x (0.67–0.69)", or say
# "withdrawn". What a command has written of a kept finding is held against that finding instead, to the letter. The column "taken as" has what was published, as a ratio with its margin: "0.7x ±10%", "5–15x ±10%", "above 1x", "–".
class ReadmeOutcomesTest < TunerTest
  include PumaTuner

  NUMBER = /\d+(?:\.\d+)?/
  MEASURED = /(#{NUMBER})x \((#{NUMBER})–(#{NUMBER})\)/
  TAKEN_AS = /\A(?:(#{NUMBER})–)?(#{NUMBER})x ±(#{NUMBER})%\z/
  DIRECTIONS = {"above 1x" => Lab::Claim::HIGHER, "below 1x" => Lab::Claim::LOWER, "–" => nil}.freeze
  WITHDRAWN = "withdrawn"

  # A cell of a column "outcome", with what it follows from.
  Printed = Data.define(:place, :claim, :taken_as, :measured, :word) do
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

  LABS = File.expand_path("../../labs", __dir__)

  def readmes = Dir["#{LABS}/*/README.md"]

  def kept = Dir["#{LABS}/*/findings/*.json"].to_h { |path| [path, Document.read(path, :finding)] }

  # @return [String] what people have written of it
  def by_hand(path)
    names = Dir["#{File.dirname(path)}/findings/*.json"].map { |one| File.basename(one, ".json") }
    names.reduce(File.read(path, encoding: "UTF-8")) { |text, name| text.sub(/<!-- finding: #{name} -->.*?<!-- \/finding: #{name} -->/m, "") }
  end

  # @return [Array<Array<Array<String>>>] tables, of rows, of cells
  def tables(text)
    text.lines.map(&:strip).chunk_while { |one, other| one.start_with?("|") && other.start_with?("|") }.select { |lines| lines.size > 2 }
      .map { |lines| lines.reject { |line| line.match?(/\A\|[-|: ]+\|\z/) }.map { |line| line.delete_prefix("|").delete_suffix("|").split("|", -1).map(&:strip) } }
  end

  def printed(path)
    tables(by_hand(path)).flat_map do |heading, *rows|
      columns = heading.each_index.select { |index| heading[index] == "outcome" }
      rows.product(columns).map do |cells, column|
        Printed.new(place: "#{path}: #{cells.first}", claim: cells.first, taken_as: cells.fetch(heading.index("taken as")), measured: cells[column - 1], word: cells[column])
      end
    end
  end

  test "every outcome is the one that the numbers beside it give" do
    all = readmes.flat_map { |path| printed(path) }
    assert_operator all.size + kept.each_value.sum { |finding| finding.claims.size }, :>, 60
    wrong = all.reject { |one| one.word == one.computed }
    assert_empty wrong.map { |one| "#{one.place}: #{one.measured}, taken as #{one.taken_as}: #{one.computed}, not #{one.word}" }
  end

  test "every margin is the declared one" do
    readmes.flat_map { |path| printed(path) }.each do |one|
      margin = TAKEN_AS.match(one.taken_as)&.captures&.last or next
      assert_equal margin, format("%g", (Lab::Margin.of(one.published_ratio).ratio * 100).round(1)), one.place
    end
  end

  test "each lab's README has the marks between which its finding is written" do
    Lab.all.each { |lab| refute_nil Lab::Readme.new(lab).written, lab.name }
  end

  test "each kept finding is small, of a long form and a commit, and README says what it says" do
    faults = kept.to_h do |path, finding|
      readme = Lab::Readme.new(Lab.find(finding.lab))
      [path, [("is too large" if File.size(path) >= Lab::Readme::SIZE_MAX_BYTES), ("lies elsewhere" unless path == readme.kept), ("is of a short form" if finding.quick),
        ("is of no commit" unless finding.commit&.changed == false),
        ("is not what README says; `puma_tuner lab keep` writes that anew" unless readme.text_of(finding) == readme.written.strip)].compact]
    end
    assert_empty faults.reject { |_, found| found.empty? }
  end

  test "kept findings are of one commit" do
    assert_operator kept.values.map(&:commit).uniq.size, :<=, 1
  end

  test "what is said by hand of a claim agrees with the kept finding" do
    wrong = kept.flat_map do |path, finding|
      outcomes = Lab::FindingReport::ClaimRows.of(finding).to_h { |row| [row.text, row.outcome || "–"] }
      printed(File.expand_path("../../README.md", path)).reject { |row| outcomes.fetch(row.claim, row.word) == row.word }
    end
    assert_empty wrong.map(&:place)
  end

  test "no interval stands beside a word of an outcome anywhere else" do
    words = Lab::FindingReport::ClaimRows::WORDS.values - %w[shown exact]
    readmes.each do |path|
      tables(by_hand(path)).each do |heading, *rows|
        next if heading.include?("outcome")
        rows.flatten.each { |cell| refute_includes words, cell, path }
      end
    end
  end
end
