# frozen_string_literal: true

require "test_helper"
require "support/builders"

class DemandFitTest < TunerTest
  include Builders

  def demand_of(...) = Model::DemandFit.demand(trace(...))

  test "bursts and waits keep their order" do
    assert_equal demand([2, 3, 1], [5, 10], wait_kinds: %w[io sleep]), demand_of("held", 2, "io", 5, "held", 3, "sleep", 10, "held", 1)
  end

  test "GVL wait disappears, at the start, after a wait, and within a burst" do
    assert_equal demand([5, 1], [8], wait_kinds: ["lock"]),
      demand_of("gvl_wait", 4, "held", 2, "gvl_wait", 7, "held", 3, "lock", 8, "gvl_wait", 9, "held", 1)
  end

  test "adjacent spells of CPU are one burst" do
    assert_equal demand([6]), demand_of("held", 2, "held", 3, "held", 1)
  end

  test "there is one burst more than there are waits, whatever the steps" do
    assert_equal demand([0]), demand_of
    assert_equal demand([0, 0], [5]), demand_of("io", 5)
    assert_equal demand([1, 0, 0], [2, 3], wait_kinds: %w[io lock]), demand_of("held", 1, "io", 2, "lock", 3)
  end

  test "what the operating system took is taken from the bursts in proportion, and their sum is exact" do
    scaled = demand_of("held", 2, "io", 5, "held", 4, "io", 5, "held", 6, cpu_ms: 4)
    assert_equal [666_666, 1_333_334, 2_000_000], scaled.bursts_ns
    assert_equal 4 * MS, scaled.held_ns
    odd = demand_of("held", 1, "io", 1, "held", 1, "io", 1, "held", 1, cpu_ms: 1.000001)
    assert_equal 1_000_001, odd.held_ns
  end

  test "CPU time beyond the time with the GVL was spent without it, and stays in the waits" do
    assert_equal demand([2, 3], [20]), demand_of("held", 2, "io", 20, "held", 3, cpu_ms: 22)
  end

  test "what was computed without the GVL is not in the bursts' CPU time" do
    assert_equal demand([4, 6], [20], wait_kinds: ["compute"]), demand_of("held", 4, "compute", 20, "held", 6, cpu_ms: 30)
    # Others ran for a sixth of that: of native code's time, too.
    assert_equal demand([3.333333, 5], [16.666667], wait_kinds: ["compute"]), demand_of("held", 4, "compute", 20, "held", 6, cpu_ms: 25)
  end

  test "a core goes cold in a long wait after which nobody else has the GVL" do
    cold, warm = ["io", 5, "gvl_wait", 0.0001], ["io", 5, "gvl_wait", 3]
    short, native = ["io", 0.1, "gvl_wait", 0.0001], ["compute", 5, "gvl_wait", 0.0001]
    counts = [[*cold, "held", 1], [*warm, "held", 1], [*short, "held", 1], [*native, "held", 1], [*cold, "held", 1, "db", 2, "held", 1]]
      .map { |steps| Model::DemandFit.colds_count(trace("held", 1, *steps)) }
    assert_equal [1, 0, 0, 0, 2], counts
  end

  test "an unknown CPU time leaves the bursts as they were" do
    assert_equal demand([2, 3], [20]),
      Model::DemandFit.demand(trace("held", 2, "io", 20, "held", 3).with(cpu_ns: nil))
  end

  test "negative steps count as none" do
    assert_equal demand([0, 0], [0]), demand_of("held", -1, "io", -5, "held", 2, cpu_ms: -3)
  end

  test "GC is no more than the bursts, and unknown when it was not timed" do
    assert_equal 2 * MS, demand_of("held", 4, cpu_ms: 2, gc_ms: 3).gc_ns
    assert_nil demand_of("held", 4, gc_ms: nil).gc_ns
  end

  test "a step of an unknown kind is refused, as the recording is another version's" do
    assert_match(/a step of the unknown kind "coffee"/, assert_raises(InvalidMeasurement) { demand_of("held", 1, "coffee", 2) }.message)
  end
end
