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
    attr_reader :trials, :attempts, :ended

    def initialize(trials = [], ended: nil)
      @trials = trials
      @attempts = []
      @ended = ended
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

  Wanted = PumaTuner::Prove::Rounds::Wanted

  test "the number that a precision takes is asked for once it is known, and ends the rounds" do
    asked = []
    run = rounds(looks: Looks.fixed(12), wanted: ->(attempts) { asked << attempts.size and (Wanted.new(rounds_count: 9, half_width_ratio: 0.02) if attempts.size >= 8) })
    assert_equal 18, run.call.size
    assert_equal [(0..8).to_a, true, :precise_rounds], [asked, run.complete?, run.stopped_because.kind]
    assert_equal "9 rounds were run: by the scatter of the first ones, intervals of ±2.0% take 9", in_words(run.stopped_because)
  end

  test "rounds that are allowed may be fewer than a precision takes, which is said" do
    run = rounds(looks: Looks.fixed(9), wanted: ->(attempts) { Wanted.new(rounds_count: 31, half_width_ratio: 0.02) if attempts.size >= 8 })
    assert_equal 18, run.call.size
    assert run.complete?
    assert_match(/all 9 rounds that were allowed were run; .* ±2.0% would take 31/, in_words(run.stopped_because))
  end

  test "a void round is none by which the scatter is known" do
    asked = []
    rounds(looks: Looks.fixed(6), runner: FakeRunner.new(void_at: [3]), wanted: ->(attempts) { asked << attempts.size && nil }).call
    assert_equal [0, 1, 1, 2, 3, 4, 5, 6], asked
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
    run = rounds(runner: FakeRunner.new(void_at: (0..100)))
    assert_equal 6, run.call.size
    refute run.complete?
    assert_match(/\A3 rounds in a row were void, the last because, with (today|recommended), .*500.*fix the app/i, in_words(run.stopped_because))
  end

  test "what the rounds told before an app began to fail is kept" do
    run = rounds(runner: FakeRunner.new(void_at: (8..100)))
    assert_equal [4, 3], run.call.each_slice(2).partition { |attempt| attempt.none?(&:void) }.map(&:size)
    refute run.complete?
  end

  test "void rounds are bounded in all, too: a variant that fails in every second round is not tried forever" do
    run = rounds(looks: Looks.fixed(10), runner: FakeRunner.new(void_at: (0..200).step(4)))
    assert_equal 6, run.call.each_slice(2).count { |attempt| attempt.any?(&:void) }
    assert_match(/\A6 rounds were void/, in_words(run.stopped_because))
  end

  test "each look is taken once, though a round that counted turns out to be disturbed after it" do
    asked = []
    void = PumaTuner::Prove::Void.new(kind: :disturbed, detail: PumaTuner::Statement.of(:told, text: "others were busy"))
    marked = lambda do |trials|
      next trials if trials.size != 14
      trials.each_with_index.map { |trial, index| index.zero? ? trial.with(void:) : trial }
    end
    run = rounds(looks: Looks.stepwise([6, 8]), decided: ->(trials) { (asked << trials.size / 2) && nil }, marked:)
    run.call
    assert_equal [6, 9], asked
    assert run.complete?
  end

  # One second by this clock for each time it is asked.
  test "the time that was given ends them" do
    clock = Object.new
    def clock.short?(_seconds) = (@count = @count.to_i + 1) > 4
    run = rounds(clock:)
    assert_equal 8, run.call.size
    assert_equal [false, :time_used_up], [run.complete?, run.stopped_because.kind]
  end

  test "where not even one fits, it is told how long a round takes, and how much more time the fewest need" do
    clock = Struct.new(:left_s) { def short?(seconds) = seconds > left_s }.new(7.9)
    runner = FakeRunner.new
    def runner.expected_s = 4.2
    run = rounds(clock:, runner:)
    assert_empty run.call
    assert_equal [false, {left_s: 7.9, round_s: 8.4, rounds_count: 6}], [run.complete?, run.stopped_because.facts.transform_keys(&:to_sym).except(:lacking_s)]
    assert_match(/\Anot one round fits into .*: 7 s, where a round takes about 9 s\. 6 rounds, the fewest that can show anything, need 43 s more\z/, in_words(run.stopped_because))
  end

  test "a void round is told of, when it turns out to be one" do
    told = []
    void = PumaTuner::Prove::Void.new(kind: :disturbed, detail: PumaTuner::Statement.of(:told, text: "others were busy"))
    marked = lambda do |trials|
      next trials if trials.size < 8
      trials.each_with_index.map { |trial, index| (index == 3) ? trial.with(void:) : trial }
    end
    rounds(marked:).call { |what, _| told << what }
    assert_equal 1, told.grep(PumaTuner::Statement).map { |one| in_words(one) }.grep(/\Around 2 is void and runs again: with (today|recommended), others were busy\z/).size
  end

  test "where no time is left to run a disturbed round again, it counts" do
    clock = Object.new
    def clock.short?(_seconds) = (@count = @count.to_i + 1) > 6
    void = PumaTuner::Prove::Void.new(kind: :disturbed, detail: PumaTuner::Statement.of(:told, text: "others were busy"))
    run = rounds(clock:, marked: ->(trials) { trials.map { |trial| (trial.round == 2) ? trial.with(void:) : trial } })
    assert_equal [6, 6, true], [run.call.size / 2, run.trials.each_slice(2).count { |attempt| attempt.none?(&:void) }, run.complete?]
  end

  test "then they may be as many as a precision takes" do
    clock = Object.new
    def clock.short?(_seconds) = (@count = @count.to_i + 1) > 9
    void = PumaTuner::Prove::Void.new(kind: :disturbed, detail: PumaTuner::Statement.of(:told, text: "others were busy"))
    marked = ->(trials) { trials.each_with_index.map { |trial, index| (index / 2 == 2) ? trial.with(void:) : trial } }
    wanted = ->(attempts) { Wanted.new(rounds_count: 9, half_width_ratio: 0.02) if attempts.size >= 8 }
    run = rounds(looks: Looks.fixed(12), clock:, marked:, wanted:)
    assert_equal [9, :time_used_up, true], [run.call.size / 2, run.stopped_because.kind, run.complete?]
  end

  test "rounds that can't tell anything end as soon as that is known" do
    asked = []
    run = rounds(looks: Looks.fixed(12), hopeless: ->(trials) { asked << trials.size / 2 and PumaTuner::Statement.of(:scattered) })
    assert_equal 12, run.call.size
    assert_equal [[6], false, :scattered], [asked, run.complete?, run.stopped_because.kind]
  end

  test "a validity check that fails for a whole round voids all of its trials" do
    calls = 0
    trials = rounds(check: ->(_) { PumaTuner::Prove::Void.new(kind: :unlike, detail: PumaTuner::Statement.of(:told, text: "the responses differ")) if (calls += 1) == 2 }).call
    assert_equal 14, trials.size
    assert_equal ["the responses differ"] * 2, trials.filter_map { |trial| in_words(trial.void&.detail) }
  end

  test "void rounds with others between them are no reason to give up" do
    trials = rounds(runner: FakeRunner.new(void_at: [0, 4, 8])).call
    assert_equal 6, trials.each_slice(2).count { |attempt| attempt.none?(&:void) }
  end

  test "rounds end at a look that decides, and say why" do
    asked = []
    run = rounds(looks: Looks.stepwise([6, 8, 10]), decided: ->(trials) { (asked << trials.size / 2).size == 2 })
    assert_equal 16, run.call.size
    assert_equal [6, 8], asked
    assert_equal PumaTuner::Statement.of(:primary_decided, rounds_count: 8), run.stopped_because
  end

  test "without a decision all planned rounds are run" do
    run = rounds(looks: Looks.stepwise([6, 8]))
    assert_equal 16, run.call.size
    assert_match(/all 8 planned rounds/, in_words(run.stopped_because))
  end

  test "an interrupted run goes on as it would have gone" do
    whole = rounds.call
    kept = Kept.new(whole.first(6))
    assert_equal whole.map { |trial| [trial.round, trial.variant] }, rounds(runner: FakeRunner.new, looks: Looks.fixed(6)).call.map { |trial| [trial.round, trial.variant] }
    rest = rounds(kept:)
    assert_equal whole.map { |trial| [trial.round, trial.variant] }, rest.call.map { |trial| [trial.round, trial.variant] }
    assert_equal 3, kept.attempts.size
  end

  test "rounds that others have disturbed are none when it goes on, either" do
    whole = rounds(looks: Looks.fixed(7)).call
    void = PumaTuner::Prove::Void.new(kind: :disturbed, detail: "others")
    marked = ->(trials) { trials.map { |trial| (trial.round == 2) ? trial.with(void:) : trial } }
    run = rounds(kept: Kept.new(whole), marked:)
    assert_equal 6, run.valid_count
    assert_equal whole.size, run.call.size
    assert_equal 2, run.trials.count(&:void)
    assert run.complete?
  end

  test "to a run that came to its end no rounds are added, though more are wanted now, and none is judged anew" do
    whole = rounds.call
    time_used_up = PumaTuner::Statement.of(:time_used_up)
    ended = PumaTuner::Prove::Journal::Ended.new(trials: whole, remarks: [], stopped_because: time_used_up)
    run = rounds(looks: Looks.fixed(12), kept: Kept.new(whole, ended:), marked: ->(_) { flunk })
    assert_equal [whole, true, time_used_up], [run.call, run.complete?, run.stopped_because]
    assert_equal 24, rounds(looks: Looks.fixed(12), kept: Kept.new(whole)).call.size
  end

  test "a server that fails is told with its variant and round" do
    runner = Object.new
    def runner.expected_s = 0

    def runner.call(variant, round:, position:) = raise(PumaTuner::ServerFailed, "it fell")

    run = rounds(runner:)
    assert_equal ["failed: it fell"] * 3, run.call.filter_map { |trial| trial.void && "#{trial.void.kind}: #{in_words(trial.void.detail)}" }
    assert_match(/3 rounds in a row were void, the last because, with (today|recommended), it fell\./, in_words(run.stopped_because))
  end
end
