# frozen_string_literal: true

require "test_helper"
require "support/trials"

class RoundsTest < TunerTest
  include Trials

  def rounds(rounds_count: 6, runner: FakeRunner.new, random: Random.new(1))
    PumaTuner::Prove::Rounds.new(variants: VARIANTS, rounds_count:, trial_runner: runner, random:)
  end

  test "every variant runs once in each round" do
    trials = rounds.call
    assert_equal 12, trials.size
    trials.group_by(&:round).each_value { |round| assert_equal %w[recommended today], round.map(&:variant).sort }
  end

  test "each variant comes first equally often" do
    firsts = rounds.call.select { |trial| trial.position.zero? }.map(&:variant)
    assert_equal({"today" => 3, "recommended" => 3}, firsts.tally)
  end

  test "the order is the seed's" do
    orders = [1, 1, 2, 3, 4, 5].map { |seed| rounds(random: Random.new(seed)).call.map(&:variant) }
    assert_equal orders[0], orders[1]
    assert_operator orders.uniq.size, :>, 1
  end

  test "a round with a void trial is run again, whole, and stays on the list" do
    trials = rounds(runner: FakeRunner.new(void_at: [3])).call
    assert_equal 14, trials.size
    assert_equal 4, trials.count { |trial| trial.round == 1 }
  end

  test "an app that goes on answering wrongly ends the proof with its reason" do
    error = assert_raises(PumaTuner::VoidMeasurement) { rounds(runner: FakeRunner.new(void_at: (0..100))).call }
    assert_match(/500/, error.message)
  end
end
