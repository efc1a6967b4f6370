# frozen_string_literal: true

require "test_helper"
require "support/trials"

class NoiseFloorTest < TunerTest
  include Trials

  METRICS = PumaTuner::Prove::Metric::SERVED

  def noise(runner: FakeRunner.new, rounds_count: 6, planned_rounds_count: 12, &)
    PumaTuner::Prove::NoiseFloor.new(VARIANTS.first, trial_runner: runner, metrics: METRICS, rounds_count:, planned_rounds_count:, seed: 1).call(&)
  end

  test "equal variants are found equal, as far as noise allows" do
    throughput = noise.find { |one| one.metric == "throughput" }
    assert throughput.ratio.covers?(1)
    # Two values within 0.5% either way: the log of their ratio has a standard deviation of 0.5% x sqrt(2/3).
    assert_in_delta 0.0041, throughput.sd_ratio, 0.002
    assert_in_delta throughput.sd_ratio * 0.915, throughput.mde_ratio, 0.0002
  end

  test "tells of each metric that was measured" do
    assert_equal %w[throughput p50 p99 cpu_per_request pss], noise.map(&:metric)
  end

  test "the runner never hears of a second variant" do
    asked = []
    runner = FakeRunner.new
    listening = Object.new
    listening.define_singleton_method(:expected_s) { 0.0 }
    listening.define_singleton_method(:call) { |variant, **place| runner.call(variant.tap { asked << variant.name }, **place) }
    noise(runner: listening)
    assert_equal({"today" => 12}, asked.tally)
  end

  test "few A/A rounds have no interval" do
    one = noise(rounds_count: 1).first
    assert_equal [nil, nil, nil], [one.ratio.level_ratio, one.sd_ratio, one.mde_ratio]
    assert_nil noise(rounds_count: 4, planned_rounds_count: 5).first.mde_ratio
  end

  test "tells what is about to run, as none of the rounds" do
    told = []
    noise(rounds_count: 2) { |what, left_s| told << [what, left_s] }
    assert_equal [4, [nil]], [told.size, told.map(&:last).uniq]
    assert_match(/\Anoise: round 1 of 2, today/, told.first.first)
  end
end
