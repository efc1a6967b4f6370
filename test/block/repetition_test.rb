# frozen_string_literal: true

require "test_helper"

class BlockRepetitionTest < TunerTest
  Repetition = PumaTuner::Block::Repetition

  MS = 1_000_000

  # Goes on when it is told to, and by itself never.
  class OnVirtualTime < Repetition
    attr_accessor :clock_ns
  end

  # @yieldparam count [Integer] iterations
  # @yieldparam calls_count [Integer] so far
  # @yieldreturn [Integer] how long they take
  # @return [Array<Integer>] how often the block was told to repeat itself, call by call
  def batches(duration_ns)
    told = []
    repetition = OnVirtualTime.new(proc { |count| told << count && repetition.clock_ns += yield(count, told.size) })
    repetition.clock_ns = 0
    repetition.for(duration_ns)
    told
  end

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
    told = batches(60 * MS) { |count, _| count * 10_000 }
    assert_equal [1, 2, 4, 8, 16, 32, 64], told.first(7)
    assert_equal [64], told.drop(6).uniq
  end

  test "a slow block is called alone, and the one under way is finished" do
    told = []
    took_ns = Repetition.new(proc { |count| told << count && sleep(0.03) }).for(40 * MS)
    assert_equal [1], told.uniq
    assert_operator took_ns, :>=, told.size * 30 * MS
    assert_operator took_ns, :>=, 40 * MS
  end

  test "batches shrink again when the block becomes slow" do
    told = batches(80 * MS) { |_, calls_count| (calls_count > 8) ? 5 * MS : 1 }
    assert_equal [256, 128, 64], told[8, 3]
    assert_equal 1, told.last
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
