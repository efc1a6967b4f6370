# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportGvlHoldersTest < TunerTest
  GvlHolders = PumaTuner::Report::GvlHolders
  Blame = PumaTuner::Probe::Blame

  # @param blames [Array<Array>] kind, holder, share of the wait
  def endpoint(name = "GET /", *blames, requests_count: 100, gvl_wait: 0.2)
    plain = TuningFixture.endpoint(name, requests_count, 10.0, 9.0, 20.0, {cpu: 0.5, gvl_wait:})
    plain.with(blame: blames.map { |kind, holder, ratio| Blame.new(kind:, holder:, wait_ns: (plain.budget.gvl_wait_ns * ratio).round) })
  end

  def holders(*endpoints, jobs: []) = GvlHolders.new(TuningFixture.observation(jobs:).with(endpoints:))

  test "holders are named after what they are" do
    kinds = [["request", "GET /"], ["job", "Mail"], ["thread", "puma reactor"], ["special", "(gc)"], ["special", "(puma)"], ["special", "(other)"]]
    assert_equal ["GET /", "job Mail", "thread puma reactor", "garbage collection", "Puma itself", "others"],
      kinds.map { |kind, holder| GvlHolders.holder_name(Blame.new(kind:, holder:, wait_ns: 1)) }
  end

  test "the shares are of all the wait, and what has no holder is others'" do
    row = holders(endpoint("GET /", ["request", "GET /a", 0.6], ["special", "(gc)", 0.1])).rows.first
    assert_equal ["GET /a", "garbage collection", "others"], row.shares.keys
    row.shares.values.zip([0.6, 0.1, 0.3]) { |ratio, expected| assert_in_delta expected, ratio, 0.001 }
  end

  test "the largest holders are named, the others are the rest, and a single one left is named, too" do
    row = holders(endpoint("GET /", ["request", "a", 0.4], ["request", "b", 0.3], ["request", "c", 0.2], ["request", "d", 0.1])).rows.first
    assert_equal %w[a b c d], row.largest(4).map(&:first)
    assert_equal ["a", "b", "others"], row.largest(3).map(&:first)
    assert_in_delta 0.3, row.largest(3).last.last, 0.001
  end

  test "who waited longest comes first, jobs among them, and all together weigh by their wait" do
    job = endpoint("Mail", ["request", "GET /a", 1.0], requests_count: 10)
    found = holders(endpoint("GET /a", ["job", "Mail", 1.0]), endpoint("GET /b", ["request", "GET /a", 1.0], requests_count: 300), jobs: [job])
    assert_equal ["GET /b", "GET /a", "job Mail"], found.rows.map(&:name)
    assert_in_delta 310 / 410.0, found.all.shares["GET /a"], 0.001
    assert_in_delta 2_000_000, found.all.per_request_ns, 1
  end

  test "slices and long holds are per hundred requests, and a dash where nobody counted" do
    row = holders(endpoint("GET /", ["special", "(gc)", 1.0]).with(slices_count: 3, long_holds_count: nil)).rows.first
    assert_equal ["3.00", "-"], [row.slices, row.long_holds]
    assert_equal "0", holders(endpoint("GET /", ["special", "(gc)", 1.0])).rows.first.slices
  end

  test "little wait, no holder at all and an unknown wait are not worth a section" do
    assert_predicate holders(endpoint("GET /", ["special", "(gc)", 1.0])), :any?
    refute_predicate holders(endpoint("GET /", ["special", "(gc)", 1.0], gvl_wait: 0.004)), :any?
    refute_predicate holders(endpoint("GET /")), :any?
    refute_predicate holders, :any?
    refute_predicate GvlHolders.new(TuningFixture.observation_without_extension), :any?
  end
end
