# frozen_string_literal: true

require "test_helper"

class ReportPartsTest < TunerTest
  Parts = PumaTuner::Report::Parts
  Budget = PumaTuner::Probe::Budget

  test "there are words for every part that a table can show" do
    listed = PumaTuner::Probe::Parts
    assert_equal listed::WALL.sort, Parts::SIMULATED.map(&:name).sort
    assert_equal listed::REQUEST.sort, Parts::ALL.map(&:name).sort
    assert_equal listed::ALL.filter_map { |part| part.name if part.of }, Parts::INSIDE.map(&:name)
  end

  test "a thread's line has words for every part of its time" do
    line = PumaTuner::ThreadLine
    assert_equal (PumaTuner::Probe::Parts::THREAD - [:idle]).sort, (line::PARTS.values + line::OTHER_PARTS.values).sort
  end

  test "a part inside of another is shown when there is enough of it, under a heading that names both" do
    budget = Budget.new(wall_ns: 1_000, io_ns: 500, db_ns: 200, file_ns: 1, lock_ns: 100, pool_ns: 50)
    assert_equal ["db in io", "pool in lock"], Parts.inside([budget]).map(&:heading)
    assert_equal ["Of io: 40.0% for a database.", "Of lock: 50.0% waiting for a connection pool."], Parts.sentences(budget)
    assert_equal "db 20 ns", Parts.io(budget, 10)
    assert_nil Parts.io(Budget.new(wall_ns: 1_000, io_ns: 500), 10)
  end

  test "simulated parts make up the whole, as recorded ones do" do
    budget = Budget.new(wall_ns: 10.0, client_ns: 1.0, queue_ns: 2.0, cpu_ns: 4.0, gc_ns: 1.0, io_ns: 2.0)
    assert_in_delta 1.0, Parts::SIMULATED.sum { |part| Parts.ratio(budget, part).to_f }
    assert_in_delta 0.0, Parts.ratio(budget, Parts::RESIDUAL)
  end
end
