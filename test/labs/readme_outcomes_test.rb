# frozen_string_literal: true

require "test_helper"

# The outcomes of claims in the labs' README pages: a command writes them of the kept findings, and nobody by hand.
class ReadmeOutcomesTest < TunerTest
  include PumaTuner

  LABS = Lab::FOLDER

  def readmes = Dir["#{LABS}/*/README.md"]

  def kept = Dir["#{LABS}/*/findings/*.json"].to_h { |path| [path, Document.read(path, :finding)] }

  # @return [String] what people have written of it
  def by_hand(path)
    names = Dir["#{File.dirname(path)}/findings/*.json"].map { |one| File.basename(one, ".json") }
    names.reduce(File.read(path, encoding: "UTF-8")) { |text, name| text.sub(/<!-- finding: #{name} -->.*?<!-- \/finding: #{name} -->/m, "") }
  end

  # @return [Array<String>] of its tables
  def cells(text) = text.lines.map(&:strip).grep(/\A\|.*\|\z/).flat_map { |line| line.split("|").map(&:strip) }

  test "each lab's README has the marks between which its finding is written" do
    Lab.all.each { |lab| refute_nil Lab::Readme.new(lab).written, lab.name }
  end

  test "each kept finding is small, of a long form and a commit, and README says what it says" do
    assert_operator kept.each_value.sum { |finding| finding.claims.size }, :>, 60
    faults = kept.to_h do |path, finding|
      readme = Lab::Readme.new(Lab.find(finding.lab))
      [path, [("is too large" if File.size(path) >= Lab::Readme::SIZE_MAX_BYTES), ("lies elsewhere" unless path == readme.kept), ("is of a short form" if finding.quick),
        ("is of no commit" unless finding.commit&.changed == false),
        ("is not what README says; `puma_tuner lab keep` writes that anew" unless readme.text_of(finding) == readme.written.strip)].compact]
    end
    assert_empty faults.reject { |_, found| found.empty? }
  end

  test "each lab has a kept finding, all of one commit" do
    assert_equal Lab.all.map(&:name).sort, kept.values.map(&:lab).sort
    assert_equal 1, kept.values.map(&:commit).uniq.size
  end

  test "no outcome is written by hand" do
    words = Lab::FindingReport::ClaimRows::WORDS.values - %w[shown exact]
    readmes.each { |path| assert_empty cells(by_hand(path)) & [*words, "outcome"], path }
  end
end
