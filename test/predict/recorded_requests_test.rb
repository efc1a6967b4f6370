# frozen_string_literal: true

require "test_helper"
require "support/builders"

class RecordedRequestsTest < TunerTest
  include Builders

  # @return [Array<Array<Integer>>] by piece: burst, garbage collection in it, wait or a lock's index, and its kind
  def pieces(demand, **options)
    Predict::RecordedRequests.new(workload(endpoints: [endpoint_demand(demand)]), **options).to_h.fetch(:pieces).unpack("q*").each_slice(4).to_a
  end

  test "bursts and waits in turn, by the codes of their kinds; at a lock, its index" do
    coded = pieces(demand([1] * 5, [2, 3, 7, 8], wait_kinds: %w[db compute acquire release]))
    assert_equal [2 * MS, 3 * MS, 7, 8, -1], coded.map { |piece| piece[2] }
    assert_equal Probe::Parts::CODES.values_at("db", "compute", "acquire", "release", "io"), coded.map(&:last)
  end

  test "garbage is collected at the end of the longest burst, and what has no room there in the next" do
    assert_equal [0, 4 * MS, 0], pieces(demand([2, 5, 1], [1, 1], gc_ms: 4)).map { |piece| piece[1] }
    assert_equal [1 * MS, 5 * MS, 0], pieces(demand([2, 5, 1], [1, 0], wait_kinds: %w[io release], gc_ms: 6)).map { |piece| piece[1] }
    assert_equal [0, 5 * MS, 2 * MS, 0], pieces(demand([3, 5, 5, 5], [1, 1, 1], gc_ms: 7)).map { |piece| piece[1] }
  end

  test "a response leaves before the end of the last time with the GVL, however many locks cut it" do
    whole, cut = demand([5, 3], [1]), demand([5, 2, 0.5, 0.5], [1, 0, 0], wait_kinds: %w[io acquire release])
    [whole, cut].each { |demand| assert_equal 7 * MS, pieces(demand, early_ns: MS).sum(&:first) }
    assert_equal [5 * MS, 0], pieces(whole, early_ns: 4 * MS).map(&:first)
    assert_equal [5 * MS, 0, 0, 0], pieces(cut, early_ns: 4 * MS).map(&:first)
  end
end
