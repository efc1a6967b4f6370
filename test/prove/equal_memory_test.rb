# frozen_string_literal: true

require "test_helper"

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
