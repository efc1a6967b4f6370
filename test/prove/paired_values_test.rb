# frozen_string_literal: true

require "test_helper"

class PairedValuesTest < TunerTest
  # @param rounds [Array<Array>] the values of "a" and "b", by attempt
  def values(metric, rounds, void_at: [])
    trials = rounds.each_with_index.flat_map do |numbers, round|
      %w[a b].zip(numbers).each_with_index.map do |(variant, number), position|
        PumaTuner::Prove::Trial.new(variant:, round:, position:, requests_count: 1, values: number ? {metric => number} : {},
          void: (PumaTuner::Prove::Void.failed("it fell") if void_at.include?([round, position])))
      end
    end
    PumaTuner::Prove::PairedValues.new(trials, 2)
  end

  def pairs(metric, rounds) = values(metric, rounds).pairs("a", "b", metric)

  test "pairs are of one round" do
    assert_equal [[1, 3], [2, 4]], pairs("p50", [[1, 2], [3, 4]])
  end

  test "the order within and of the rounds does not matter" do
    trials = [[1, "b", 4], [1, "a", 3], [0, "a", 1], [0, "b", 2]].map do |round, variant, number|
      PumaTuner::Prove::Trial.new(variant:, round:, position: 0, requests_count: 1, values: {"p50" => number})
    end
    assert_equal [[1, 3], [2, 4]], PumaTuner::Prove::PairedValues.new(trials, 2).pairs("a", "b", "p50")
  end

  test "a void trial voids its round" do
    found = values("p50", [[1, 2], [3, 4], [5, 6]], void_at: [[1, 1]])
    assert_equal [[1, 5], [2, 6]], found.pairs("a", "b", "p50")
    assert_equal [2, 2], [found.rounds_count, found.voided_count]
    assert_equal [0, 2], found.trials("a").map(&:round)
  end

  test "a round in which one trial lacks the metric is not compared" do
    assert_nil pairs("p50", [[1, 2], [3, nil]])
    assert_nil pairs("p50", [])
    assert_equal [2, nil], values("p50", [[1, 2], [3, nil]]).values("b", "p50")
  end

  test "rounds in which both are zero are left out where that may be, while enough is left" do
    rounds = [[1, 2]] * 6 + [[0, 0]] * 2
    assert_equal [[1] * 6, [2] * 6], pairs("gc_per_request", rounds)
    assert_nil pairs("gc_per_request", rounds.drop(1))
    assert_nil pairs("cpu_per_request", rounds)
  end

  # Two rounds in three without any collection, and a third with a long one: by the rounds that have a ratio that would
  # be more collecting, and it is less.
  test "a round in which one alone is zero is not left out, and nothing is compared" do
    assert_nil pairs("gc_per_request", [[2, 3], [2, 0], [2, 0]] * 8)
    assert_nil pairs("gc_per_request", [[1, 2]] * 8 + [[0, 1]])
  end
end

class EqualMemoryTest < TunerTest
  def trial(variant, memory, values = {})
    PumaTuner::Prove::Trial.new(variant:, round: 0, position: 0, requests_count: 1, memory:, values:)
  end

  def memory(*trials) = PumaTuner::Prove::EqualMemory.of(trials)

  test "the faster one is read where the slower one ended" do
    found = memory(trial("slow", [[0, 50, 70], [1_000, 60, 80]]), trial("fast", [[0, 50, 70], [500, 54, 74], [1_500, 64, 94]]))
    assert_equal({"pss" => 60.0, "rss" => 80.0}, found["slow"])
    assert_equal({"pss" => 59.0, "rss" => 84.0}, found["fast"])
  end

  test "equal growth per request is equal memory, however fast" do
    line = ->(count) { [0, count / 3, count].map { |served| [served, 1_000 + 2 * served, 5_000 + 3 * served] } }
    found = memory(trial("a", line[900]), trial("b", line[30_000]), trial("c", line[2_400]))
    assert_equal [{"pss" => 2_800.0, "rss" => 7_700.0}], found.values.uniq
  end

  test "samples without a request between them are no trouble" do
    found = memory(trial("a", [[0, 50, 70], [0, 52, 72], [10, 62, 82], [10, 63, 83]]), trial("b", [[0, 1, 1]]))
    assert_equal({"pss" => 50.0, "rss" => 70.0}, found["a"])
    assert_equal({"pss" => 1.0, "rss" => 1.0}, found["b"])
  end

  test "memory is what each variant had in the end where a curve is missing" do
    found = memory(trial("a", [[0, 50, 70], [10, 60, 80]], {"pss" => 61, "rss" => 81, "p50" => 1}), trial("b", [], {"rss" => 90}))
    assert_equal({"a" => {"pss" => 61, "rss" => 81}, "b" => {"rss" => 90}}, found)
  end
end
