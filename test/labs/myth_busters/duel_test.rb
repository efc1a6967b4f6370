# frozen_string_literal: true

require "test_helper"
require_relative "fixture"

class MythBustersDuelTest < TunerTest
  Labs = PumaTuner::Labs::MythBusters
  Named = Data.define(:name)

  # Its turns are disturbed as the script says, one after the other; then no more.
  Stand = Struct.new(:entrant, :script, :asked) do
    def warm_up(*) = nil

    def turn(asked, _seconds, seed:)
      self.asked << [asked, seed]
      Labs::Turn.new(outcome: nil, cpu_ns: self.asked.size, memory_bytes: nil, disturbed: script.shift)
    end
  end

  Field = Struct.new(:stands) do
    def serving(_entrants) = yield(stands)
  end

  LOADS = [1, 50].map { |count| Labs::Asked.closed("/realistic", count) }

  def duel(puma: [], go: [], rounds_count: 2, busy_machine: false)
    stands = {"Puma" => puma, "Go" => go}.map { |name, script| Stand.new(Named.new(name:), script, []) }
    run = Struct.new(:seed, :busy_machine?) { def note(*) = nil }.new(7, busy_machine)
    times = Labs::Duel::Times.new(rounds_count:, seconds: 0.1, warmup_s: 0.1, fresh: true)
    [Labs::Duel.new(Field.new(stands), stands.map(&:entrant), LOADS, times:, run:, title: "both").call, *stands.map(&:asked)]
  end

  test "each round asks all of all, with a seed of its own" do
    rounds, puma, go = duel
    assert_equal [0, 0], [rounds.disturbed_count, rounds.void_count]
    assert_equal LOADS.product([7]) + LOADS.product([8]), puma
    assert_equal puma, go
  end

  test "what was disturbed is taken again at once, by all, and nothing else is" do
    rounds, puma, go = duel(go: [nil, "others were busy"])
    assert_equal [0, 0], [rounds.disturbed_count, rounds.void_count]
    assert_equal [LOADS.first, LOADS.last, LOADS.last, LOADS.first, LOADS.last], go.map(&:first)
    assert_equal puma, go
    assert_equal [2, 2], [["Go", LOADS.first], ["Go", LOADS.last]].map { |key| rounds.turns.fetch(key).size }
    assert_equal 3, rounds.turns.fetch(["Go", LOADS.last]).first.cpu_ns
  end

  test "a round that stays disturbed is void, and run again" do
    rounds, _puma, go = duel(puma: ["others were busy"] * 3)
    assert_equal [0, 1], [rounds.disturbed_count, rounds.void_count]
    assert_equal 3 + 1 + 2 + 2, go.size
  end

  test "rounds that never are undisturbed count, as too few others are left, and it is told" do
    rounds, = duel(puma: ["others were busy"] * 100)
    assert_equal [3, 0], [rounds.disturbed_count, rounds.void_count]
  end

  test "on a busy machine nothing is taken again" do
    rounds, puma, = duel(puma: ["others were busy"] * 100, busy_machine: true)
    assert_equal [2, 0], [rounds.disturbed_count, rounds.void_count]
    assert_equal 4, puma.size
  end
end
