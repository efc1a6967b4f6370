# frozen_string_literal: true

require "test_helper"
require "support/trials"

class CalibrationTest < TunerTest
  include Trials

  # What would be proven, without servers.
  class Plan
    attr_reader :asked

    def initialize(factor)
      @factor = factor
      @asked = []
    end

    def variants = Trials::VARIANTS

    def proof(variants:, looks:, noise_rounds_count:, seed:)
      @asked << [variants.map(&:name), looks.rounds_max, noise_rounds_count, seed]
      plan = PumaTuner::Prove::Proof::Plan.new(variants:, looks:, noise_rounds_count:, seed:, load: nil)
      # By name: what is called "today again" is as quick as the factor says.
      PumaTuner::Prove::Proof.new(plan, trial_runner: Trials::FakeRunner.new(factor: @factor, seed:))
    end
  end

  def calibrate(plan, count: 10) = PumaTuner::Prove::Calibration.new(plan, proofs_count: count).call

  test "each proof is of the baseline against itself, in an order of its own" do
    plan = Plan.new(1.0)
    calibrate(plan, count: 3)
    assert_equal [[["today", "today again"], 6, 0, 1], [["today", "today again"], 6, 0, 2], [["today", "today again"], 6, 0, 3]], plan.asked
  end

  test "equal variants seldom differ, and unequal ones always" do
    assert_operator calibrate(Plan.new(1.0)).differences_count, :<=, 2
    result = calibrate(Plan.new(1.5))
    assert_equal 10, result.differences_count
    assert_match(/\A10 of 10 proofs of equal variants called a difference in throughput; at most 5.0 in 100/, result.to_s)
  end
end
