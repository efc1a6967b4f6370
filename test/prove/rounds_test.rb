# frozen_string_literal: true

require "test_helper"
require "support/trials"

class RoundsTest < TunerTest
  include Trials

  Looks = PumaTuner::Prove::Looks

  def rounds(looks: Looks.fixed(6), runner: FakeRunner.new, random: Random.new(1), **options)
    PumaTuner::Prove::Rounds.new(variants: VARIANTS, looks:, trial_runner: runner, random:, **options)
  end

  # Keeps in memory.
  class Kept
    attr_reader :trials, :attempts

    def initialize(trials = [])
      @trials = trials
      @attempts = []
    end

    def keep(attempt) = @attempts << attempt
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

  test "a law over a whole round voids all of it" do
    calls = 0
    trials = rounds(law: ->(_) { "the answers differ" if (calls += 1) == 2 }).call
    assert_equal 14, trials.size
    assert_equal ["the answers differ"] * 2, trials.filter_map(&:void_reason)
  end

  test "void rounds with others between them are no reason to give up" do
    trials = rounds(runner: FakeRunner.new(void_at: [0, 4, 8, 12])).call
    assert_equal 6, trials.each_slice(2).count { |attempt| attempt.none?(&:void_reason) }
  end

  test "rounds end at a look that decides, and say why" do
    asked = []
    run = rounds(looks: Looks.stepwise([6, 8, 10]), decided: ->(trials) { (asked << trials.size / 2).size == 2 && "decided" })
    assert_equal 16, run.call.size
    assert_equal [6, 8], asked
    assert_equal "decided, after 8 rounds", run.stopped_because
  end

  test "without a decision all planned rounds are run" do
    run = rounds(looks: Looks.stepwise([6, 8]))
    assert_equal 16, run.call.size
    assert_match(/all 8 planned rounds/, run.stopped_because)
  end

  test "an interrupted run goes on as it would have gone" do
    whole = rounds.call
    kept = Kept.new(whole.first(6))
    assert_equal whole.map { |trial| [trial.round, trial.variant] }, rounds(runner: FakeRunner.new, looks: Looks.fixed(6)).call.map { |trial| [trial.round, trial.variant] }
    rest = rounds(kept:)
    assert_equal whole.map { |trial| [trial.round, trial.variant] }, rest.call.map { |trial| [trial.round, trial.variant] }
    assert_equal 3, kept.attempts.size
  end

  test "a server that fails is told with its variant and round" do
    runner = Object.new
    def runner.expected_s = 0

    def runner.call(variant, round:, position:) = raise(PumaTuner::ServerFailed, "it fell")

    assert_match(/\A(today|recommended), round 1: it fell/, assert_raises(PumaTuner::ServerFailed) { rounds(runner:).call }.message)
  end
end
