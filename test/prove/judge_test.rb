# frozen_string_literal: true

require "test_helper"
require "support/trials"

class JudgeTest < TunerTest
  include Trials

  Looks = PumaTuner::Prove::Looks

  SLOW_DISK = PumaTuner::Statement.of(:told, text: "slow disk")
  FACTS = {noise: [], load: nil, seed: 1, machine: nil, started_at: "2026-01-01T00:00:00Z", command: "puma_tuner prove", stopped_because: nil,
           expectations: []}.freeze

  def judge(rounds: 6, variants: VARIANTS, looks: Looks.fixed(rounds), primary: "throughput", seed: 1, **runner)
    trial_runner = FakeRunner.new(seed: seed + 6, **runner)
    trials = PumaTuner::Prove::Rounds.new(variants:, looks: Looks.fixed(rounds), trial_runner:, random: Random.new(seed)).call
    PumaTuner::Prove::Judge.new(variants:, trials:, primary:, looks:)
  end

  def verdict(**) = judge(**).call(**FACTS)

  def comparison(metric, **) = verdict(**).comparison("recommended", metric)

  test "more throughput is better, more latency is worse" do
    better, worse = verdict(factor: 1.5, rounds: 8), verdict(factor: 0.5, rounds: 8)
    %w[throughput p50 p99 cpu_per_request].each do |metric|
      assert_equal %i[better worse], [better, worse].map { |one| one.comparison("recommended", metric).outcome }, metric
    end
  end

  test "the interval covers the true ratio, and so does Student's" do
    found = comparison("throughput", factor: 1.5)
    assert found.ratio.covers?(1.5)
    assert found.t_ratio.covers?(1.5)
    assert found.agreed?
  end

  test "an interval inside two percent is equivalent" do
    assert_equal :equivalent, comparison("throughput", factor: 1.0).outcome
    assert_equal :equivalent, comparison("pss", factor: 1.5).outcome
  end

  test "fewer than six rounds show nothing" do
    found = comparison("throughput", factor: 3, rounds: 4)
    assert_equal [:not_shown, nil, nil], [found.outcome, found.ratio.level_ratio, found.mde_ratio]
    assert_equal :not_shown, comparison("p50", factor: 3, rounds: 4).outcome
  end

  test "the minimum detectable effect follows from the spread of the pairs" do
    found = comparison("throughput", rounds: 12, noise_ratio: 0.02)
    assert_operator found.mde_ratio, :>, 0.008
    assert_operator found.mde_ratio, :<, 0.03
  end

  test "the primary metric's p-value stands alone, the others' are adjusted" do
    found = verdict(factor: 1.5, rounds: 12)
    assert_nil found.comparison("recommended", "throughput").adjusted_p_value
    assert_in_delta 2.0**-11, found.comparison("recommended", "throughput").p_value, 1e-12
    # Three differences of four other metrics: the smallest p-value is raised by their number.
    assert_in_delta 4 * 2.0**-11, found.comparison("recommended", "p50").adjusted_p_value, 1e-12
  end

  test "an interval of one among many does not show by itself" do
    # Six rounds reach p = 1/32, which four metrics raise over 0.05.
    found = comparison("p50", factor: 1.5, rounds: 6)
    refute found.ratio.covers?(1)
    assert_equal [:not_shown, 0.125], [found.outcome, found.adjusted_p_value]
    assert_equal :better, comparison("p50", factor: 1.5, rounds: 6, primary: "p50").outcome
  end

  test "equal variants are seldom called different in anything" do
    noisy = ->(seed) { verdict(rounds: 8, noise_ratio: 0.1, seed:).comparisons.drop(1).any? { |one| %i[better worse].include?(one.outcome) } }
    # Three standard deviations over 5 of 100.
    assert_operator (1..200).count(&noisy), :<=, 10 + 3 * Math.sqrt(9.5)
  end

  test "two that change places turn over" do
    trials = PumaTuner::Prove::Rounds.new(variants: VARIANTS, looks: Looks.fixed(8), trial_runner: FakeRunner.new(factor: 1.3), random: Random.new(1)).call
    there, back = [VARIANTS, VARIANTS.reverse].map do |variants|
      PumaTuner::Prove::Judge.new(variants:, trials:, primary: "throughput", looks: Looks.fixed(8)).call(**FACTS).comparisons.first
    end
    assert_in_delta 1, there.ratio.low * back.ratio.high, 1e-9
    assert_equal [there.p_value, :better, :worse], [back.p_value, there.outcome, back.outcome]
  end

  test "several looks and variants are paid for with the level" do
    third = PumaTuner::Prove::Variant.new(name: "other", factors: {"topology" => "1x1"})
    found = verdict(rounds: 10, variants: [*VARIANTS, third], looks: Looks.stepwise([10, 20, 40]))
    assert_equal [10, 20, 40], found.looks
    assert_in_delta 1 - 0.05 / 6, found.level_ratio, 1e-12
    found.comparisons.each do |one|
      assert_operator one.ratio.level_ratio, :>=, (one.metric == "throughput") ? found.level_ratio : 1 - 0.05 / 3
    end
    # Each look is a chance for the others, too: 2 of 1024, thrice, of eight metrics.
    assert_in_delta 8 * 3 * 2.0**-9, verdict(rounds: 10, factor: 2, variants: [*VARIANTS, third], looks: Looks.stepwise([10, 20, 40]))
      .comparison("recommended", "p50").adjusted_p_value, 1e-12
  end

  test "rounds may end when the primary metric says something of every variant" do
    third = PumaTuner::Prove::Variant.new(name: "other", factors: {"topology" => "1x1"})
    assert judge(factor: 1.5).primary_decided?
    assert judge(factor: 1.0).primary_decided?
    refute judge(factor: 1.0, noise_ratio: 0.1).primary_decided?
    refute judge(factor: 1.5, rounds: 6, variants: [*VARIANTS, third]).primary_decided?
    assert judge(factor: 1.5, rounds: 7, variants: [*VARIANTS, third]).primary_decided?
    refute judge(factor: 1.5, primary: "boot").primary_decided?
  end

  test "the predicted ratio stands beside the measured one" do
    found = verdict(factor: 1.5)
    assert_in_delta 2.0, found.comparison("recommended", "throughput").predicted_ratio
    assert_nil found.comparison("recommended", "pss").predicted_ratio
    assert_in_delta(1 / 3r, found.cells.last.error_ratio("throughput"), 0.03)
    assert_nil found.cells.last.error_ratio("cpu_per_request")
  end

  test "void rounds are counted, listed, and not used" do
    with_void = verdict(factor: 1.5, void_at: [2])
    assert_equal [2, 6, 14], [with_void.voided_count, with_void.rounds_count, with_void.trials.size]
    assert_equal 6, with_void.cells.first.estimates["throughput"].samples_count
    assert_equal 12, with_void.valid_trials.size
  end

  # @param failing [Hash{String => Array<Integer>}] attempts at rounds in which a variant fails, of those that are made
  def verdict_of_failing(attempts_count, failing, factor: 1.5)
    runner = FakeRunner.new(factor:)
    trials = Array.new(attempts_count) do |attempt|
      VARIANTS.each_with_index.map do |variant, position|
        void = PumaTuner::Prove::Void.failed("2 of 10 responses had an unexpected status (500: 2)") if failing.fetch(variant.name, []).include?(attempt)
        runner.call(variant, round: attempt, position:).with(void:)
      end
    end
    PumaTuner::Prove::Judge.new(variants: VARIANTS, trials: trials.flatten, primary: "throughput", looks: Looks.fixed(8)).call(**FACTS)
  end

  test "a variant that fails clearly more is not called better, nor equivalent, whatever its good rounds show" do
    found = verdict_of_failing(16, {"recommended" => [1, 3, 5, 7, 9, 11, 13, 15]})
    assert_equal [8, 1.5], [found.rounds_count, found.comparison("recommended", "throughput").ratio.value.round(1)]
    assert_equal [:not_shown] * 5, found.comparisons.map(&:outcome)
    failure = found.failing("recommended")
    assert_equal [8, 16, true], [failure.attempts_count, failure.all_count, failure.clearly_more]
    assert_match(/500/, in_words(failure.reason))
    assert_equal :worse, verdict_of_failing(16, {"recommended" => [1, 3, 5, 7, 9, 11, 13, 15]}, factor: 0.5).comparison("recommended", "throughput").outcome
  end

  test "five failures against none are no chance, one is" do
    assert verdict_of_failing(40, {"recommended" => [1, 2, 3, 4, 5]}).failing("recommended")
    once = verdict_of_failing(9, {"recommended" => [1]})
    assert_equal [:better, nil, 1], [once.comparison("recommended", "throughput").outcome, once.failing("recommended"), once.failures.sum(&:attempts_count)]
  end

  test "a variant that fails as often as the baseline is judged by its good rounds" do
    found = verdict_of_failing(18, {"today" => [0, 2, 4, 6], "recommended" => [1, 3, 5, 7]})
    assert_equal [["today", 4, false], ["recommended", 4, false]], found.failures.map { |one| [one.variant, one.attempts_count, one.clearly_more] }
    assert_equal :better, found.comparison("recommended", "throughput").outcome
  end

  test "memory is compared at equal requests" do
    # The recommended one serves twice as much, and grows with each request as the other does.
    curve = ->(variant, _round) { {memory: [[0, 1_000, 2_000], [1, 1_001, 2_001], (variant.name == "today") ? [1_000, 2_000, 3_000] : [2_000, 3_000, 4_000]]} }
    found = verdict(factor: 2, facts: curve)
    assert_in_delta 1, found.comparison("recommended", "pss").ratio.value, 1e-9
    assert_in_delta 2_000, found.cells.last.estimates["pss"].value, 1e-9
    assert_equal :equivalent, found.comparison("recommended", "rss").outcome
  end

  test "a metric that any trial could not tell is not compared" do
    none = verdict.comparisons.map(&:metric)
    assert_equal %w[throughput p50 p99 cpu_per_request pss], none
    refute verdict.cells.first.estimates.key?("boot")
  end

  test "remarks of trials stand with their variant" do
    budget = ->(round) { PumaTuner::Probe::Budget.zero.with(wall_ns: 100 + round, cpu_ns: 50, io_ns: (round == 3) ? nil : 7) }
    warmup = ->(steady) { PumaTuner::Load::Warmup.new(steady:, reason: nil, windows_count: 3, duration_ns: 1, requests_count: 1, cpu_per_request_ns: []) }
    facts = lambda do |variant, round|
      next {} if variant.name == "today"
      {budget: (budget[round] unless round == 5), warmup: warmup[round > 1], fingerprint: {[:puma, "topology"] => "2x3"}, remarks: [SLOW_DISK]}
    end
    today, recommended = verdict(facts:).cells
    assert_equal [nil, 0, [], {}], [today.budget, today.unsteady_count, today.remarks, today.fingerprint]
    assert_equal [102, 50, nil], [recommended.budget.wall_ns, recommended.budget.cpu_ns, recommended.budget.io_ns]
    assert_equal [2, [SLOW_DISK], {[:puma, "topology"] => "2x3"}], [recommended.unsteady_count, recommended.remarks, recommended.fingerprint]
    assert_equal [{"topology" => "2x3"}, "2x3"], [recommended.factors, recommended.topology.to_s]
  end

  test "the topology is taken from what ran" do
    variants = %w[today recommended].map { |name| PumaTuner::Prove::Variant.new(name:) }
    same = ->(_variant, _round) { {fingerprint: {[:puma, "topology"] => "1x5"}} }
    changing = ->(_variant, round) { {fingerprint: {[:puma, "topology"] => "1x#{round + 1}"}} }
    assert_equal ["1x5", "", ""], [same, changing, nil].map { |facts| verdict(variants:, facts:).cells.first.topology.to_s }
  end

  test "a verdict is the same after it was written and read" do
    found = verdict(factor: 1.5)
    assert_equal found, PumaTuner::Document.parse(PumaTuner::Document.dump(found), "it", [:verdict])
  end

  test "a primary metric that nobody measures is a mistake of ours" do
    assert_raises(ArgumentError) { PumaTuner::Prove::Judge.new(variants: VARIANTS, trials: [], primary: "speed", looks: Looks.fixed(6)) }
  end

  test "no comparison is made without a round" do
    found = PumaTuner::Prove::Judge.new(variants: VARIANTS, trials: [], primary: "throughput", looks: Looks.fixed(6)).call(**FACTS)
    assert_equal [0, [], [{}, {}]], [found.rounds_count, found.comparisons, found.cells.map(&:estimates)]
  end
end
