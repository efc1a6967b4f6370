# frozen_string_literal: true

require "test_helper"

class BlockRepetitionTest < TunerTest
  Repetition = PumaTuner::Block::Repetition

  MS = 1_000_000

  test "a block without an argument is called once per iteration" do
    calls = 0
    repetition = Repetition.new(-> { calls += 1 })
    repetition.repeat(7)
    repetition.for(20 * MS)
    assert_operator calls, :>, 7
    assert_equal [calls, calls], [repetition.iterations_count, repetition.calls_count]
  end

  test "a block with an argument is told how often to repeat itself" do
    told = []
    repetition = Repetition.new(proc { |count| told << count })
    repetition.repeat(7)
    repetition.for(20 * MS)
    assert_equal [7, 1], told.first(2)
    assert_equal [told.sum, told.size], [repetition.iterations_count, repetition.calls_count]
  end

  test "a fast block runs in batches of about a millisecond" do
    told = []
    Repetition.new(proc { |count| told << count && sleep(count * 0.000_01) }).for(60 * MS)
    assert_operator told.max, :>, 10
    assert_operator told.max, :<, 200
  end

  test "a slow block is called alone, and the one under way is finished" do
    told = []
    took_ns = Repetition.new(proc { |count| told << count && sleep(0.03) }).for(40 * MS)
    assert_equal [1], told.uniq
    assert_operator took_ns, :>=, told.size * 30 * MS
    assert_operator took_ns, :>=, 40 * MS
  end

  test "batches shrink again when the block becomes slow" do
    told = []
    repetition = Repetition.new(proc { |count| told << count && sleep((told.size > 8) ? 0.005 : 0) })
    repetition.for(80 * MS)
    assert_operator told.last, :<, told[8]
  end

  test "repeating allocates nothing of its own" do
    repetition = Repetition.new(-> {})
    # The first time Ruby allocates what it caches of each call.
    allocated = Array.new(2) do
      before = GC.stat(:total_allocated_objects)
      repetition.for(5 * MS)
      GC.stat(:total_allocated_objects) - before
    end
    assert_equal 0, allocated.last
  end
end
