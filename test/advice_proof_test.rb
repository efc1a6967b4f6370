# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/tuning_fixture"
require "tmpdir"

# How advice becomes variants; that they are measured is in integration/advise_proof_test.rb.
class AdviceProofTest < TunerTest
  include Builders

  PUMA_RB = "config/puma.rb"

  def advice(rule, factors: {}, lines: {}, topology: nil, gain: 1.2)
    text = Statement.of(:told, text: rule)
    Advise::Advice.new(rule:, title: text, evidence: [], topology: topology && topology(topology), throughput_ratio: gain && estimate(gain),
      p50_ratio: gain && estimate(1 / gain), p99_ratio: gain && estimate(1 / gain), change: text, cost: text, undo: text, lines:, factors:)
  end

  # @yieldparam proof [AdviceProof]
  def proof(*advice, puma_rb: "port 3000\n", command: nil, sweep: sweep(forecast("1x5", 100), forecast("2x3", 190), forecast("1x1", 50)))
    Dir.mktmpdir do |folder|
      nothing = AdviceProof::Plan.members.to_h { |member| [member, nil] }
      yield AdviceProof.new(advice, sweep:, plan: AdviceProof::Plan.new(**nothing, folder:, puma_rb:, command:, primary: "throughput"))
    end
  end

  def reasons(*advice, **)
    proof(*advice, **) { |proof| return proof.checks.map { |check| check.reason&.kind } }
  end

  test "today's setting comes first, and each advice that has factors is a variant of its own" do
    proof(advice("topology", topology: "2x3", factors: {"topology" => "2x3"}), advice("malloc", factors: {"env.MALLOC_ARENA_MAX" => "2"}, gain: nil)) do |proof|
      assert_equal [["today", {"topology" => "1x5"}], ["topology", {"topology" => "2x3"}], ["malloc", {"env.MALLOC_ARENA_MAX" => "2", "topology" => "1x5"}]],
        proof.variants.map { |variant| [variant.name, variant.factors] }
      assert_equal [100, 190, nil], proof.variants.map { |variant| variant.forecast&.throughput_per_s&.value }
    end
  end

  test "rules that advise the same share a variant; two advices of one rule have names of their own" do
    same = {"workers" => "2"}
    proof(advice("cpu_quota", factors: same), advice("memory_growth", factors: same), advice("puma_version", factors: {"gem.puma" => "6"}),
      advice("puma_version", factors: {"gem.puma" => "8"})) do |proof|
      assert_equal ["today", "cpu_quota", "puma_version", "puma_version 2"], proof.variants.map(&:name)
    end
  end

  test "lines that are no options of Puma are measured as a configuration of their own" do
    proof(advice("gc", lines: {PUMA_RB => "before_fork { Process.warmup }"})) do |proof|
      path = proof.variants.last.factors.fetch("config")
      assert_equal "port 3000\n\n# advised\nbefore_fork { Process.warmup }\n", File.read(path)
      assert_in_delta 120, proof.variants.last.forecast.throughput_per_s.value
    end
  end

  test "what can't be measured by itself is told with the reason" do
    assert_equal %i[stays no_lines no_setting pool_in_file in_code], reasons(advice("topology", topology: "1x5", factors: {"topology" => "1x5"}), advice("lock_bound"), advice("topology"),
      advice("starved_pool", lines: {"config/database.yml" => "pool: 5"}), advice("io_bound", lines: {PUMA_RB => "max_io_threads 3", "the endpoints named" => "x"}))
    hook = advice("gc", lines: {PUMA_RB => "before_fork { Process.warmup }"})
    assert_equal [:of_folder], reasons(hook, puma_rb: "plugin File.join(__dir__, \"mine\")\n")
    assert_equal [:not_measured], reasons(hook, puma_rb: "port 3000 # caf\xE9\n"), "which can be"
    assert_equal [:in_file_already], reasons(hook, puma_rb: "before_fork { Process.warmup }\n")
    assert_equal [:computed_there], reasons(advice("background_threads", lines: {PUMA_RB => "solid_queue_mode :fork"}), puma_rb: "solid_queue_mode :async if x\n")
    every = %i[stays no_lines no_setting pool_in_file in_code of_folder in_file_already computed_there not_to_be_had fails_to_serve not_measured too_few_places]
    assert_equal every.sort, Report::ProofWords::REASONS.keys.sort
  end

  # Workers and threads that Active Record's pool is too small for.
  def beside_a_small_pool
    advice("topology", topology: "2x3", factors: {"topology" => "2x3"}, lines: {PUMA_RB => "workers 2", "config/database.yml" => "pool: 3"})
      .with(evidence: [Statement.of(:too_few_places, size: 2, places_count: 3, threads_count: 3)])
  end

  def in_app(database_yml, environment: {})
    Dir.mktmpdir do |folder|
      FileUtils.mkdir(File.join(folder, "config"))
      File.write(File.join(folder, "config/database.yml"), database_yml)
      yield Host::Command.new(words: ["puma"], directory: folder, environment:)
    end
  end

  test "workers and threads are measured with the advised places in the pool, of which there is no forecast" do
    in_app("  pool: <%= ENV.fetch(\"POOL\") { 2 } %>\n") do |command|
      proof(beside_a_small_pool, command:) do |proof|
        assert_equal [{"topology" => "1x5"}, {"topology" => "2x3", "env.POOL" => "3"}], proof.variants.map(&:factors)
        assert_equal [100, nil], proof.variants.map { |variant| variant.forecast&.throughput_per_s&.value }
      end
    end
  end

  test "where nothing gives the pool these places, they are measured as it is, which is told and not remembered" do
    in_app("  pool: 2\n") do |command|
      proof(beside_a_small_pool, command:) { |proof| assert_equal({"topology" => "2x3"}, proof.variants.last.factors) }
      found = check(beside_a_small_pool, TuningFixture.verdict(other: "topology"), command:)
      assert_equal [:better, :too_few_places, nil], [found.measured.outcome, found.reason.kind, found.whole]
    end
  end

  # A proof of one advice, whose rounds are those of the fixture.
  def check(advice, verdict, **)
    proof(advice, **) do |proof|
      proof.instance_variable_set(:@verdict, verdict)
      return proof.checks.first
    end
  end

  test "what was measured stands beside what was predicted, and tells whether it held" do
    advised = advice("affinity", factors: {"affinity" => "on"}, gain: 1.6)
    held = check(advised, TuningFixture.verdict(other: "affinity", factor: 1.644)).whole
    assert_equal [:better, true, false, 1.6], [held.outcome, held.as_predicted?, held.otherwise?, held.predicted.value]
    nothing = check(advised, TuningFixture.verdict(other: "affinity", factor: 1.004)).measured
    assert_equal [:equivalent, false, true], [nothing.outcome, nothing.as_predicted?, nothing.otherwise?]
    assert_equal [topology("1x5"), Model::Arrivals.closed(10)], [held.today, held.arrivals]
  end

  test "of other workers or threads the sweep's own forecast is held against it" do
    fewer = advice("short_releases", factors: {"threads" => "1"}, gain: 1.6)
    measured = check(fewer, TuningFixture.verdict(other: "short_releases", factor: 1.644)).measured
    assert_in_delta 0.5, measured.predicted.value, 0.01
  end

  test "rules that promise memory are held to it" do
    verdict = TuningFixture.verdict(other: "malloc")
    memory = verdict.comparisons.first.with(metric: "pss", outcome: :better, ratio: estimate(0.8))
    check = check(advice("malloc", factors: {"env.MALLOC_ARENA_MAX" => "2"}, gain: nil), verdict.with(comparisons: [*verdict.comparisons, memory]))
    assert_equal ["pss", 0.8, :better, nil], [check.measured.metric, check.measured.ratio.value, check.measured.outcome, check.measured.predicted]
  end

  test "what the rounds did not come to is told" do
    assert_equal :not_measured, check(advice("affinity", factors: {"affinity" => "on"}), nil).reason.kind
  end
end
