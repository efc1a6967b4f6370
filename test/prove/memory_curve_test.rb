# frozen_string_literal: true

require "test_helper"

class MemoryCurveTest < TunerTest
  include PumaTuner

  # A server of one process: this one.
  Server = Data.define(:pids)

  Outcome = Data.define(:requests_count, :in_time_count, :sending_ns)

  test "points are at the requests served by then" do
    curve = Prove::MemoryCurve.new(Server.new(pids: [Process.pid]))
    2.times { curve.during { sleep(0.6) && Outcome.new(requests_count: 100, in_time_count: 80, sending_ns: 100_000_000) } }
    counts = curve.points.map(&:first)
    assert_equal 0, counts.first
    assert_equal 200, counts.last
    assert_equal counts.sort, counts
    assert_equal [0, 80, 100, 180, 200], counts
    curve.points.each { |_, pss, rss| assert_operator pss, :<=, rss }
    assert_operator curve.points.last[2], :>, 5_000_000
  end

  test "a server that has gone adds no points" do
    curve = Prove::MemoryCurve.new(Server.new(pids: [2**22 + 1]))
    curve.during { Outcome.new(requests_count: 1, in_time_count: 1, sending_ns: 1) }
    assert_empty curve.points
  end

  test "what the load raises is passed on, and nothing keeps sampling" do
    curve = Prove::MemoryCurve.new(Server.new(pids: [Process.pid]))
    before = Thread.list.size
    assert_raises(LoadToolFailed) { curve.during { raise LoadToolFailed, "no" } }
    wait_until("the sampler has ended") { Thread.list.size <= before }
  end
end
