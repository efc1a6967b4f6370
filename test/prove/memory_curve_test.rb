# frozen_string_literal: true

require "test_helper"

class MemoryCurveTest < TunerTest
  include PumaTuner

  # A server of one process: this one, unless another is named. Each sample begins with its pids.
  class Server
    attr_reader :asked_count

    def initialize(pids: [Process.pid])
      @pids = pids
      @asked_count = 0
    end

    def pids
      @asked_count += 1
      @pids
    end
  end

  Outcome = Data.define(:requests_count, :in_time_count, :sending_ns)

  test "points are at the requests served by then" do
    server = Server.new
    curve = Prove::MemoryCurve.new(server)
    2.times do
      # Until a sample is over, as the next has begun.
      asked_count = server.asked_count
      curve.during { wait_until("a sample") { server.asked_count >= asked_count + 2 } && Outcome.new(requests_count: 100, in_time_count: 80, sending_ns: 100_000_000) }
    end
    # All samples of a load came after its sending; on a busy machine there are more of them.
    assert_equal [0, 80, 100, 180, 200], curve.points.map(&:first).uniq
    curve.points.each { |_, pss, rss| assert_operator pss, :<=, rss }
    assert_operator curve.points.last[2], :>, 5_000_000
  end

  test "a server that has gone adds no points" do
    curve = Prove::MemoryCurve.new(Server.new(pids: [2**22 + 1]))
    curve.during { Outcome.new(requests_count: 1, in_time_count: 1, sending_ns: 1) }
    assert_empty curve.points
  end

  test "what the load raises is passed on, and nothing keeps sampling" do
    curve = Prove::MemoryCurve.new(Server.new)
    before = Thread.list.size
    assert_raises(LoadToolFailed) { curve.during { raise LoadToolFailed, "no" } }
    wait_until("the sampler has ended") { Thread.list.size <= before }
  end
end
