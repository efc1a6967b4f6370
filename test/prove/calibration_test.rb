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

  # @yieldparam variant [Variant]
  # @yieldparam proof [Integer] from 0
  # @yieldparam round [Integer]
  # @yieldreturn [Hash] fields of the trial
  def calibrate_with(count, primary: "throughput", &fields)
    proofs_count = 0
    setup = Struct.new(:variants, :made) { def proof(**) = made.call(**) }.new(Trials::VARIANTS, lambda do |variants:, looks:, seed:, **|
      number = proofs_count
      proofs_count += 1
      runner = Struct.new(:fields) do
        def expected_s = 0.0

        def call(variant, round:, position:) = PumaTuner::Prove::Trial.new(variant: variant.name, round:, position:, requests_count: 100, **fields.call(variant, round))
      end
      PumaTuner::Prove::Proof.new(PumaTuner::Prove::Proof::Plan.new(variants:, primary:, looks:, seed:, load: nil), trial_runner: runner.new(->(variant, round) { fields.call(variant, number, round) }))
    end)
    PumaTuner::Prove::Calibration.new(setup, proofs_count: count).call { |what| (@said ||= []) << what }
  end

  test "a primary metric that can't be told ends it at the first proof, and says what it takes" do
    error = assert_raises(PumaTuner::InvalidMeasurement) { calibrate_with(3, primary: "p99") { {values: {"throughput" => 100.0}} } }
    assert_match(/p99 can't be compared here\. It takes 200 requests in each trial/, error.message)
    assert_equal ["proof 1 of 3"], @said
  end

  test "a proof that ended early is no proof without a difference, and is told" do
    fell = {void: PumaTuner::Prove::Void.failed("it fell"), values: {}}
    result = calibrate_with(3) { |_, proof, round| (proof == 1 && round >= 2) ? fell : {values: {"throughput" => 100.0 + round}} }
    assert_equal [2, 1, 0], [result.outcomes.size, result.incomplete_count, result.differences_count]
    assert_match(/\A0 of 2 proofs.*each\)\. 1 proof more ended early and told nothing\.$/, result.to_s)
    assert_match(/none of 2 proofs had all its rounds/, assert_raises(PumaTuner::InvalidMeasurement) { calibrate_with(2) { fell } }.message)
  end
end
