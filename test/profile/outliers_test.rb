# frozen_string_literal: true

require "test_helper"
require "support/profiles"

class OutliersTest < TunerTest
  include Profiles

  def logged(number, wall_ns: 1_000, gvl_wait_ns: 0, gc_ns: 0, thread: 1, endpoint: "GET /a")
    Profile::Outliers::Logged.new(thread:, began_ns: number * 10_000, ended_ns: number * 10_000 + wall_ns, wall_ns:, gvl_wait_ns:, gc_ns:, endpoint:)
  end

  def usual(count = 40) = Array.new(count) { |number| logged(number, wall_ns: 1_000 + number % 5) }

  test "the slowest twentieth of an endpoint stands out" do
    outliers = Profile::Outliers.new([[*usual(95), *Array.new(5) { |number| logged(100 + number, wall_ns: 9_000) }]])
    assert_equal({"tail" => 5}, outliers.reasons)
    assert_equal [5, 100], [outliers.count, outliers.seen_count]
  end

  test "a slow endpoint is no outlier beside a fast one" do
    slow = Array.new(40) { |number| logged(number, wall_ns: 9_000 + number, endpoint: "GET /slow") }
    reasons = Profile::Outliers.new([[*usual, *slow]]).reasons
    assert_equal ["tail"], reasons.keys
    assert_operator reasons["tail"], :<=, 4
  end

  test "a wait for the GVL and a collection stand out when they are far from usual and weigh" do
    outliers = Profile::Outliers.new([[*usual, logged(50, gvl_wait_ns: 600), logged(51, gc_ns: 300), logged(52, gc_ns: 5)]])
    assert_equal 1, outliers.reasons["gvl wait"]
    assert_equal 1, outliers.reasons["gc"]
  end

  test "few requests have no outliers, as nobody can say what is usual" do
    assert_equal 0, Profile::Outliers.new([[*usual(18), logged(19, wall_ns: 90_000)]]).count
  end

  test "only samples within an outlier on the same thread are kept" do
    log = [*usual, logged(99, wall_ns: 9_000, thread: 2)]
    stacks = [
      stack("A#in_it", 1, thread: 2, at_ns: 990_500), stack("A#at_its_end", 1, thread: 2, at_ns: 999_000), stack("A#after", 1, thread: 2, at_ns: 999_001),
      stack("A#before", 1, thread: 2, at_ns: 989_999), stack("A#another_thread", 1, thread: 1, at_ns: 990_500), stack("A#no_instant", 1, thread: 2)
    ]
    kept = Profile::Outliers.new([log]).inside(samples(list: stacks, interval_ns: 1), log)
    assert_equal %w[A#in_it A#at_its_end], kept.stacks.map { |one| one.frames.last.name }
    assert_equal 2, kept.samples_count
  end
end
