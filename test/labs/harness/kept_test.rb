# frozen_string_literal: true

require "test_helper"
require "support/tradeoffs"
require "tmpdir"

# What a long lab leaves when it is interrupted, and takes up again.
class LabKeptTest < TunerTest
  include PumaTuner

  def setup = @folder = Dir.mktmpdir

  def teardown = FileUtils.rm_rf(@folder)

  def kept(same = {"seed" => 1}) = Lab::Kept.new(File.join(@folder, "finding.json.parts"), same:)

  def trials(round) = %w[a b].map { |name| Prove::Trial.new(variant: name, round:, position: 0, requests_count: 3, values: {"throughput" => 1.5}) }

  test "a part is measured once, and comes back as it was" do
    verdict = Tradeoffs.study({"off" => [10, 5], "on" => [8, 6]}).verdict
    assert_equal verdict, kept.part("proof") { verdict }
    assert_equal verdict, kept.part("proof") { flunk("measured again") }
    assert_equal [1, nil, "x"], kept.part("grid") { [1, nil, "x"] }
  end

  test "a part that fails is not kept" do
    assert_raises(InvalidMeasurement) { kept.part("grid") { raise InvalidMeasurement, "no" } }
    assert_equal 7, kept.part("grid") { 7 }
  end

  test "rounds of a proof are taken up where they ended" do
    plan = {"seed" => 1}
    kept.journal("the ladder", plan).keep(trials(0))
    assert_equal trials(0), kept.journal("the ladder", plan).trials
    again = kept.journal("the ladder", plan)
    again.keep(trials(1))
    assert_equal [0, 0, 1, 1], kept.journal("the ladder", plan).trials.map(&:round)
  end

  test "what was planned otherwise, or in another version of the lab, is measured anew" do
    kept.journal("the ladder", {"seed" => 1}).keep(trials(0))
    kept.part("grid") { 7 }
    assert_empty kept.journal("the ladder", {"seed" => 2}).trials
    assert_empty kept.journal("settings", {"seed" => 1}).trials
    assert_empty kept("seed" => 1, "files" => "others").journal("the ladder", {"seed" => 1}).trials
    assert_equal 8, kept("seed" => 1, "files" => "others").part("grid") { 8 }
  end

  test "what a lab measures twice is kept twice" do
    run = kept
    assert_equal [1, 2], [run.part("grid") { 1 }, run.part("grid") { 2 }]
    again = kept
    assert_equal [1, 2], [again.part("grid") { 3 }, again.part("grid") { 4 }]
  end

  test "nothing is there before something is kept, nor after all was removed" do
    run = kept
    refute run.any?
    assert_empty Dir.children(@folder)
    run.part("grid") { 1 }
    assert run.any?
    run.remove
    assert_empty Dir.children(@folder)
  end

  test "a place that can't be written is told" do
    run = Lab::Kept.new("/proc/nowhere/parts", same: {})
    assert_match(/cannot write.*--output/, assert_raises(UsageError) { run.part("grid") { 1 } }.message)
    assert_match(/cannot (save|write).*--output/, assert_raises(UsageError) { run.journal("grid", {}) }.message)
  end

  test "an empty folder is nothing to go on with, and may be kept in" do
    made = -> { Lab::Kept.new(@folder, same: {}, commit: Lab::Commit.new(name: "abc1234", changed: false)) }
    refute made.call.any?
    assert_equal 7, made.call.part("grid") { 7 }
    assert_equal 7, made.call.part("grid") { flunk("measured again") }
  end

  test "what another commit has measured is refused, with what to do" do
    folder = File.join(@folder, "finding.json.parts")
    made = ->(name, changed: false) { Lab::Kept.new(folder, same: {}, commit: name && Lab::Commit.new(name:, changed:)) }
    made.call("abc1234").part("grid") { 1 }
    assert_equal 1, made.call("abc1234").part("grid") { 2 }
    assert_match(/was measured with commit `abc1234`, and this is commit `def5678`: .*remove the folder/, assert_raises(UsageError) { made.call("def5678") }.message)
    assert_match(/this is commit `abc1234` with uncommitted changes/, assert_raises(UsageError) { made.call("abc1234", changed: true) }.message)
    assert_match(/this is an unknown commit/, assert_raises(UsageError) { made.call(nil) }.message)
    File.delete(File.join(folder, "commit"))
    assert_match(/a commit that is not told/, assert_raises(UsageError) { made.call("abc1234") }.message)
  end

  # Four labs share a folder: the finding of one must not end what another has begun.
  test "pages and kept findings in the lab's folder make no other lab, and programs do" do
    folder = File.join(@folder, "lab")
    FileUtils.mkdir_p(File.join(folder, "findings"))
    write = ->(name, text) { File.write(File.join(folder, name), text) }
    write.call("lab.rb", "1")
    before = Lab::Kept.send(:checksum, folder)
    write.call("README.md", "1")
    write.call("findings/other.json", "{}")
    assert_equal before, Lab::Kept.send(:checksum, folder)
    write.call("query.graphql", "1")
    refute_equal before, Lab::Kept.send(:checksum, folder)
  end

  test "another file in the lab's folder makes another lab" do
    lab = Lab.find("falsy_cache")
    one = Lab::Kept.of(lab, File.join(@folder, "parts"), seed: 1)
    one.part("grid") { 1 }
    assert_equal 1, Lab::Kept.of(lab, File.join(@folder, "parts"), seed: 1).part("grid") { 2 }
    assert_equal 2, Lab::Kept.of(lab, File.join(@folder, "parts"), seed: 2).part("grid") { 2 }
  end
end
