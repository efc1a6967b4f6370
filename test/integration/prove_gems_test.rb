# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "support/command_line"
require "support/gem_repository"

# Variants that differ in a gem's version, of a block: each with a lockfile and an install folder of its own.
class ProveGemsTest < TunerTest
  include CommandLine

  time_limit 150

  WORDS = %w[--duration 0.3 --warmup-limit 0.6 --noise-rounds 0 --rounds 1 --busy-machine].freeze

  def setup
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    source = GemRepository.make(File.join(@folder, "repository").tap { |path| Dir.mkdir(path) },
      "looper" => {"1.0" => "LOOPS = 10", "2.0" => "LOOPS = 2_000"}, "other" => {"1.0" => "OTHER = 1", "2.0" => "OTHER = 2"})
    File.write(File.join(@folder, "Gemfile"), "source #{source.dump}\ngem \"looper\"\ngem \"other\", \"1.0\"\n")
    File.write(File.join(@folder, "loops.rb"), "require \"looper\"\nblock { i = 0\n i += 1 while i < LOOPS }\n")
  end

  def teardown = FileUtils.rm_rf(@folder)

  def prove(*words)
    puma_tuner("prove", "--block", File.join(@folder, "loops.rb"), *WORDS, *words, folder: @folder,
      environment: {"PUMA_TUNER_CACHE" => File.join(@folder, "cache")})
  end

  def verdict = PumaTuner::Document.read(File.join(@folder, "tmp/puma_tuner/verdict.json"), :verdict)

  test "each variant runs with its own version, and nothing of the app's is changed" do
    before = Dir.children(@folder).sort
    result = prove("--variant", "one:gem.looper=1.0", "--variant", "two:gem.looper=2.0")
    assert_equal 0, result.code, result.err
    assert_equal %w[1.0 2.0], verdict.cells.map { |cell| cell.fingerprint.fetch([:gem, "looper"]) }
    assert_equal %w[1.0 1.0], verdict.cells.map { |cell| cell.fingerprint.fetch([:gem, "other"]) }
    assert_operator verdict.comparison("two", "iterations").ratio.value, :<, 0.5
    assert_equal before + %w[cache tmp], Dir.children(@folder).sort.then { |now| before + (now - before) }
    assert_equal 2, Dir.children(File.join(@folder, "cache/variants")).size
    assert_equal 1, Dir.children(File.join(@folder, "cache/variants")).map(&:size).uniq.size, "paths of equal length"
  end

  test "an undeclared difference is refused" do
    assert_equal 0, prove("--variant", "one:gem.looper=1.0", "--variant", "two:gem.looper=2.0,gem.other=2.0").code # declared
    File.write(File.join(@folder, "loops.rb"), "require \"looper\"\nENV[\"A\"] = \"1\" if LOOPS > 10\nblock { LOOPS }\n")
    assert_mistake(/differ in something undeclared.*env A/m, prove("--variant", "one:gem.looper=1.0", "--variant", "two:gem.looper=2.0"))
  end

  test "a version that is not to be had is told with Bundler's words" do
    assert_mistake(/gems of a variant can't be installed.*looper/m, prove("--variant", "one:gem.looper=1.0", "--variant", "two:gem.looper=3.0"))
  end
end
