# frozen_string_literal: true

require "test_helper"
require "json"

class BudgetTest < TunerTest
  Budget = PumaTuner::Probe::Budget

  test "the residual is the wall time that no part accounts for" do
    assert_equal 30, Budget.zero.with(wall_ns: 100, cpu_ns: 50, io_ns: 20).residual_ns
  end

  test "a part unknown in one is unknown in the sum" do
    sum = Budget.zero.with(wall_ns: 1, queue_ns: nil) + Budget.zero.with(wall_ns: 2, queue_ns: 5)
    assert_equal 3, sum.wall_ns
    assert_nil sum.queue_ns
  end

  test "the parts inside io add up, and are unknown in older files" do
    one = Budget.zero.with(wall_ns: 9, io_ns: 7, db_ns: 4, http_ns: 2)
    assert_equal [14, 8, 4, 0], (one + one).then { |sum| [sum.io_ns, sum.db_ns, sum.http_ns, sum.redis_ns] }
    assert_equal 2, one.residual_ns
    older = Budget.from_document(JSON.parse(JSON.generate(one.to_document.except(:db_ns, :redis_ns, :http_ns, :file_ns))))
    assert_equal [7, nil, nil, nil, nil], [older.io_ns, older.db_ns, older.redis_ns, older.http_ns, older.file_ns]
    assert_nil (older + one).db_ns
  end

  test "a simulated budget from an older file has its gc taken out of its cpu, and sums up" do
    older = {"client_ns" => 1.0, "queue_ns" => 2.0, "gvl_wait_ns" => 0.0, "cpu_ns" => 5.0, "gc_ns" => 1.0,
             "preempted_ns" => 0.0, "io_ns" => 2.0, "lock_ns" => 0.0, "sleep_ns" => 0.0}
    budget = Budget.from_document(older)
    assert_equal [10.0, 4.0, 1.0, 0.0, nil], [budget.wall_ns, budget.cpu_ns, budget.gc_ns, budget.residual_ns, budget.idle_ns]
    untimed = Budget.from_document(older.merge("gc_ns" => nil))
    assert_equal [10.0, 5.0, nil, nil], [untimed.wall_ns, untimed.cpu_ns, untimed.gc_ns, untimed.on_core_ns]
  end

  test "the wait for a pool is read by its older name, too" do
    older = Budget.zero.with(pool_ns: 3).to_document.transform_keys { |key| (key == :pool_ns) ? "pool_wait_ns" : key.name }
    assert_equal 3, Budget.from_document(older).pool_ns
  end

  test "parts that are not given are not known" do
    assert_equal [9, 4, nil], Budget.new(wall_ns: 9, cpu_ns: 4).then { |budget| [budget.wall_ns, budget.cpu_ns, budget.gc_ns] }
    assert_raises(ArgumentError) { Budget.new(wall_ns: 9, coffee_ns: 4) }
  end

  test "shares of nothing are unknown, not zero" do
    assert_nil Budget.zero.share_ratio(:cpu)
    assert_in_delta 0.25, Budget.zero.with(wall_ns: 8, cpu_ns: 2).share_ratio(:cpu)
  end
end
