# frozen_string_literal: true

require "test_helper"
require "support/trials"

class JudgeTest < TunerTest
  include Trials

  FACTS = {generator: "fake", duration_ns: 1, connections_count: 10, seed: 1}.freeze

  # @param factor [Numeric] throughput of the recommended variant over today's
  def verdict(factor:, rounds: 6, void_at: [])
    runner = FakeRunner.new(factor:, void_at:)
    trials = PumaTuner::Prove::Rounds.new(variants: VARIANTS, rounds_count: rounds, trial_runner: runner, random: Random.new(1)).call
    PumaTuner::Prove::Judge.new(variants: VARIANTS, trials:).call(**FACTS)
  end

  test "more throughput is better, more latency is worse" do
    comparison = verdict(factor: 1.5)
    assert_equal "better", comparison.comparison("recommended", "throughput").outcome
    assert_equal "better", comparison.comparison("recommended", "p50").outcome
    worse = verdict(factor: 0.5)
    assert_equal "worse", worse.comparison("recommended", "throughput").outcome
    assert_equal "worse", worse.comparison("recommended", "p99").outcome
  end

  test "the interval covers the true ratio" do
    assert verdict(factor: 1.5).comparison("recommended", "throughput").ratio.covers?(1.5)
  end

  test "no difference, and an interval inside two percent, is equivalent" do
    assert_equal "equivalent", verdict(factor: 1.0).comparison("recommended", "throughput").outcome
  end

  test "fewer than six rounds show nothing" do
    assert_equal "not shown", verdict(factor: 3, rounds: 4).comparison("recommended", "throughput").outcome
  end

  test "the predicted ratio stands beside the measured one" do
    assert_in_delta 2.0, verdict(factor: 1.5).comparison("recommended", "throughput").predicted_ratio
    assert_in_delta(1 / 3r, verdict(factor: 1.5).cells.last.throughput_error_ratio, 0.03)
  end

  test "void rounds are counted, listed, and not used" do
    with_void = verdict(factor: 1.5, void_at: [2])
    assert_equal 2, with_void.voided_count
    assert_equal 6, with_void.rounds_count
    assert_equal 14, with_void.trials.size
    assert_equal 6, with_void.cells.first.throughput_per_s.samples_count
  end
end
