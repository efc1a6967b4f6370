# frozen_string_literal: true

require "test_helper"

class ThreadBudgetTest < TunerTest
  def budget_of(**numbers)
    PumaTuner::Measure::ThreadBudget.of({held: 0, gvl_wait: 0, io: 0, lock: 0, sleep: 0, idle: 0, gc: 0, slices_count: 0, cpu_clock: 0}.merge(numbers))
  end

  test "held time beyond the CPU clock was off the cores" do
    budget = budget_of(held: 100, cpu_clock: 80, gc: 10)
    assert_equal [70, 20, 10], [budget.cpu_ns, budget.preempted_ns, budget.gc_ns]
    assert_equal 0, budget.residual_ns
  end

  test "CPU beyond held time was computed without the GVL, and is not io" do
    budget = budget_of(held: 100, cpu_clock: 160, io: 90)
    assert_equal [160, 30, 0], [budget.cpu_ns, budget.io_ns, budget.preempted_ns]
    assert_equal 0, budget.residual_ns
  end

  test "idle is outside the wall time" do
    budget = budget_of(held: 10, cpu_clock: 10, lock: 5, idle: 1_000)
    assert_equal 15, budget.wall_ns
    assert_equal 1_000, budget.idle_ns
  end
end
