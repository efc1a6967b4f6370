# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "support/finding_fixture"

# What stays of a run in the repository.
class LabReadmeTest < TunerTest
  include PumaTuner

  Some = Struct.new(:name)

  def setup = @folder = Dir.mktmpdir

  def teardown = FileUtils.rm_rf(@folder)

  def readme = Lab::Readme.new(Some.new("falsy_cache"), folder: @folder)

  def write(text) = File.write(File.join(@folder, "README.md"), text)

  def finding(**fields) = FindingFixture.finding(commit: Lab::Commit.new(name: "4ffeb6d", changed: false), ruby: "ruby 3.4.5", **fields)

  MARKED = "# A lab\n<!-- finding: other -->kept<!-- /finding: other -->\n\n<!-- finding: falsy_cache -->\nold\n<!-- /finding: falsy_cache -->\nthe end\n"

  test "a finding is kept without its rounds, can be read and reported, and its outcomes stay" do
    write(MARKED)
    one = readme
    one.keep(finding)
    kept = Document.read(File.join(@folder, "findings/falsy_cache.json"), :finding)
    assert_equal kept, one.finding
    assert_empty kept.verdicts
    assert_equal [finding.claims, finding.tables, finding.commit], [kept.claims, kept.tables, kept.commit]
    assert_includes Report.render(kept, format: :text), "44,528"
  end

  test "README has claims, outcomes and what they were made with between its marks, and nothing else is touched" do
    write(MARKED)
    readme.keep(finding)
    text = File.read(readme.path)
    assert text.start_with?("# A lab\n<!-- finding: other -->kept<!-- /finding: other -->\n\n<!-- finding: falsy_cache -->\nMade with commit `4ffeb6d` on 2026-01-01: ruby 3.4.5; ")
    assert text.end_with?("\n<!-- /finding: falsy_cache -->\nthe end\n")
    refute_includes text, "old"
    assert_match Lab::Provenance::PATTERN, text
    assert_includes text, "Short form, whose intervals are wide: `puma_tuner lab run falsy_cache --quick`."
    assert_includes text, "- The query takes 44,528 locks.\n"
    assert_includes text, "| claim | published | taken as | measured here | outcome | remark |\n| --- | --- | --- | --- | --- | --- |\n"
    assert_includes text, "| the cure makes the query faster | 6.782 → 8.633 iterations/s | 1.27x ±10% | 1.25x (1.20–1.30) | reproduced |  |\n"
    assert_includes text, "| locks per query, cured | 0 expected | – | 3 | differs |  |\n"
    assert_includes text, "| time per query | about 200 ms | – | 48.5 ms (48.0–49.0) | – |  |\n"
    assert_equal readme.text_of(readme.finding), readme.written.strip
  end

  test "its tables stand there, too, folded, whatever is in their cells" do
    write(MARKED)
    readme.keep(finding)
    assert_includes File.read(readme.path), "<details><summary>Calls per query</summary>\n\n| method | calls | where |\n| --- | --- | --- |\n| Map#<get> | 44,528 | by \\| lazy? |\n"
  end

  test "what a claim is taken as is told as the hand-written tables have it" do
    told = {1.27 => "1.27x ±10%", 1 => "1x ±5%", 1.1 => "1.1x ±4.9%", 5.0..15.0 => "5–15x ±10%", Lab::Claim::HIGHER => "above 1x", Lab::Claim::LOWER => "below 1x", nil => "–"}
    told.each { |ratio, words| assert_equal words, Lab::Readme.taken_as(Lab::Claim.of_ratio("", FindingFixture.ratio(2.0, 0.1), published_ratio: ratio)) }
  end

  test "without marks, and of what is too large, nothing is kept and it is said why" do
    write("# A lab\n")
    assert_match(/README.md has lost its marks, <!-- finding: falsy_cache --> and <!-- \/finding: falsy_cache -->/, assert_raises(UsageError) { readme.keep(finding) }.message)
    write(MARKED)
    large = Lab::Table.new(title: "large", headings: ["a"], rows: [["x" * 200_000]])
    assert_match(/20\d{4} bytes without its rounds/, assert_raises(UsageError) { readme.keep(finding(tables: [large])) }.message)
    assert_equal [["README.md"], MARKED], [Dir.children(@folder), File.read(readme.path)]
  end
end
