# frozen_string_literal: true

require "test_helper"

class BudgetTest < TunerTest
  Budget = PumaTuner::Probe::Budget

  test "what the parts miss is the residual" do
    assert_equal 30, Budget.zero.with(wall_ns: 100, cpu_ns: 50, io_ns: 20).residual_ns
  end

  test "a part unknown in one is unknown in the sum" do
    sum = Budget.zero.with(wall_ns: 1, queue_ns: nil) + Budget.zero.with(wall_ns: 2, queue_ns: 5)
    assert_equal 3, sum.wall_ns
    assert_nil sum.queue_ns
  end

  test "what io was for adds up, and is unknown of older files" do
    one = Budget.zero.with(wall_ns: 9, io_ns: 7, db_ns: 4, http_ns: 2)
    assert_equal [14, 8, 4, 0], (one + one).then { |sum| [sum.io_ns, sum.db_ns, sum.http_ns, sum.redis_ns] }
    assert_equal 2, one.residual_ns
    older = Budget.from_document(JSON.parse(JSON.generate(one.to_document.except(:db_ns, :redis_ns, :http_ns, :file_ns))))
    assert_equal [7, nil, nil, nil, nil], [older.io_ns, older.db_ns, older.redis_ns, older.http_ns, older.file_ns]
    assert_nil (older + one).db_ns
  end

  test "shares of nothing are unknown, not zero" do
    assert_nil Budget.zero.share_ratio(:cpu)
    assert_in_delta 0.25, Budget.zero.with(wall_ns: 8, cpu_ns: 2).share_ratio(:cpu)
  end
end
