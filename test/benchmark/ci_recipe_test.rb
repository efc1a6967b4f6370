# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/ci_recipe"

# The recipe for CI in short, on the repository of its benchmark: margins so wide that a busy machine does not matter.
class CiRecipeTest < TunerTest
  kind :integration

  time_limit 500

  SHORT = {"LOOKS" => "6", "MARGIN" => "50"}.freeze
  WORDS = %w[--duration 0.8 --warmup-window 0.2 --warmup-limit 1 --probe-duration 0 --connections 4 --busy-machine].freeze

  def setup
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    @history = CiRecipe::History.new(File.join(@folder, "shop"))
  end

  def teardown = FileUtils.rm_rf(@folder)

  def proofs(**variables) = CiRecipe::Proofs.new(@history, variables: SHORT.merge(variables.transform_keys(&:to_s)), words: WORDS)

  # Makes a pull request that does the list so many times more.
  def plant(times)
    file = File.join(@history.folder, "shop.rb")
    @history.plant("much more", CiRecipe::History::ROWS)
    @history.checkout("much more")
    File.write(file, File.read(file).sub(/^ +ARTICLES\.first.*\n/) { |line| line * times })
    @history.send(:commit, "More")
  end

  test "a pull request that takes far more CPU fails, and its summary says by how much" do
    plant(3)
    tries(2) do
      said = proofs.call("much more")
      assert_equal 1, said.code, said.printed
      assert_operator said.ratio.value, :>, 2
      assert_match(/cpu\\_per\\_request not worse is not shown/, said.summary)
      assert_match(/\| CPU per request \(primary\) \|.*worse \|/, said.summary)
    end
  end

  test "one that changes the Gemfile passes, though the gems differ" do
    tries(2) do
      said = proofs.call("another gem in the Gemfile")
      assert_equal 0, said.code, said.printed
      assert_match(/not worse is shown/, said.summary)
    end
    assert_equal "another-gem-in-the-Gemfile", `git -C #{@history.folder} rev-parse --abbrev-ref HEAD`.strip
  end

  test "where nothing can be told, it is no regression, and the summary says why" do
    missing = proofs(BASE: "origin/main").call("a README")
    assert_equal 2, missing.code, missing.printed
    assert_match(/nothing was measured\n\n> git=origin\/main: there is no such commit .* git fetch origin main/, missing.summary)
    assert_equal [0, "there is no change since main\n"], proofs.call("main").then { |said| [said.code, said.summary] }
  end

  test "a base that does not boot is named, in the terminal with its output and in the summary without" do
    @history.checkout("main")
    file = File.join(@history.folder, "config.ru")
    works = File.read(file)
    File.write(file, "raise \"a s3cret\"\n")
    @history.send(:commit, "It does not boot")
    File.write(file, works)
    @history.send(:branch, "mended") { File.write(file, works) }
    said = proofs.call("mended")
    assert_equal 3, said.code, said.printed
    assert_match(/s3cret/, said.printed)
    assert_match(/nothing was measured\n\n> base: .*ended before it served/, said.summary)
    refute_match(/s3cret/, said.summary)
  end

  def said(kind, code, value = 1.0)
    ratio = PumaTuner::Stats::Estimate.new(value:, low: value - 0.02, high: value + 0.02, level_ratio: 0.983, samples_count: 10)
    CiRecipe::Said.new(kind:, code:, ratio:, rounds_count: 10, seconds: 120.0, summary: "", printed: "")
  end

  def page(planted, harmless) = CiRecipe::Page.new(machine: PumaTuner::Probe::MachineFacts.read, rows_count: 14, planted:, harmless:)

  test "the page holds both counts against what is promised" do
    good = page([*[said("a regression", 1, 1.05)] * 19, said("a regression", 0, 1.04)], [said("a README", 0)] * 20)
    assert_equal %i[met met], good.outcomes
    assert_match(/found in 19 of 20 proofs; 0 of 20 harmless pull requests were called one/, good.to_s)
    assert_match(/\| 5% more \(14 rows of 240 once more\) \| +20 \| +19 \| +1\.050x \(1\.040x–1\.050x\)/, good.to_s)
    assert_equal %i[missed missed], page([*[said("a regression", 1)] * 18, *[said("a regression", 0)] * 2], [said("a README", 1), *[said("a README", 0)] * 19]).outcomes
    assert_equal %i[not_shown], page([said("a regression", 3)], [said("a README", 0)]).outcomes
  end

  test "a quick run is not worth the page" do
    assert_raises(OptionParser::InvalidArgument) { CiRecipe::Options.parse(%w[--quick --write]) }
    assert_raises(OptionParser::InvalidArgument) { CiRecipe::Options.parse(%w[--proofs 5 --write]) }
    assert_equal 20, CiRecipe::Options.parse(%w[--write]).count
  end
end
