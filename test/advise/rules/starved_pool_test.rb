# frozen_string_literal: true

require "test_helper"
require "support/advising"

class StarvedPoolRuleTest < TunerTest
  include Advising

  def pool(size: 2, class_name: "ActiveRecord::ConnectionAdapters::ConnectionPool", place: "app.rb:3 in show")
    Probe::LockObservation.new(id: 1, kind: "pool", class_name:, place:, size:, threads_count: 5, holds_count: 100, hold_ns: 900 * MS, waits_count: 60, wait_ns: 500 * MS)
  end

  # @param pool_ms [Numeric] that requests waited for it, of 1,000 ms
  def recorded(pool_ms, locks: [pool], gems: {"activerecord" => "8.1.0"})
    budget = Probe::Budget.zero.with(wall_ns: 1_000 * MS, lock_ns: pool_ms * MS, pool_ns: pool_ms * MS)
    in_force(observation.with(budget:, locks:), **gems.transform_keys { |name| "gem #{name}" })
  end

  def watched = workload.with(locks: [lock_demand(2, name: "ActiveRecord::ConnectionAdapters::ConnectionPool at app.rb:3 in show")])

  test "a pool that is waited for for a twentieth of the time is named, with its size and its threads" do
    advice = ask(Advise::Rules::StarvedPool, observation: recorded(50)).first
    assert_equal "Waits for a connection take 5.0% of the requests' time.", advice.evidence.first
    assert_includes advice.evidence, "ActiveRecord::ConnectionAdapters::ConnectionPool (app.rb:3 in show) has 2 places for 5 threads of a worker: 60 of 100 checkouts had to wait."
    assert_match(/\A5 places in the pool/, advice.change)
    assert_empty ask(Advise::Rules::StarvedPool, observation: recorded(49))
  end

  test "it never answers with threads" do
    refute(ask(Advise::Rules::StarvedPool, observation: recorded(500)).any? { |advice| advice.topology || advice.factors.key?("threads") })
  end

  test "the line is called as that Rails calls it, and there is none where no Rails is" do
    line = ->(gems, **options) { ask(Advise::Rules::StarvedPool, observation: recorded(50, gems:, **options)).first.lines }
    assert_equal({"config/database.yml" => "max_connections: 5"}, line.call({"activerecord" => "8.1.0"}))
    assert_equal({"config/database.yml" => "pool: 5"}, line.call({"activerecord" => "8.0.3"}))
    assert_empty line.call({}, locks: [pool(class_name: "ConnectionPool::TimedStack")])
  end

  test "no more places are advised than the database takes connections" do
    limited = ->(count) { {db_connections_count: count} }
    advice = ask(Advise::Rules::StarvedPool, observation: recorded(50), constraints: limited[3]).first
    assert_equal({"config/database.yml" => "max_connections: 3"}, advice.lines)
    assert_match(/\A3 places in the pool, as many as the database's limit leaves .* less than its 5 threads/, advice.change)
    assert_match(/\A3 connections of all workers together, today 2/, advice.cost)
    assert_empty ask(Advise::Rules::StarvedPool, observation: recorded(50), constraints: limited[2]).first.lines, "it has them"
    assert_equal({"config/database.yml" => "max_connections: 5"}, ask(Advise::Rules::StarvedPool, observation: recorded(50), constraints: limited[20]).first.lines)
  end

  test "a pool that was watched has a forecast, with a place for each thread" do
    asked = []
    advice = ask(Advise::Rules::StarvedPool, observation: recorded(50), of: watched) { |what_if, _| asked << what_if and forecast("1x5", 180) }.first
    assert_equal ["size(ActiveRecord::ConnectionAdapters::ConnectionPool at app.rb:3 in show)=5"], asked
    assert_in_delta 1.8, advice.throughput_ratio.value
  end

  test "a pool that has a place for each thread is not made larger: somebody else has its connections" do
    advice = ask(Advise::Rules::StarvedPool, observation: recorded(50, locks: [pool(size: 5)]), of: watched) { flunk "nothing to forecast" }.first
    assert_match(/find who else has connections/, advice.change)
    assert_empty advice.lines
  end

  test "who else was seen to hold connections, as threads of jobs do, has a place, too" do
    jobs = pool(size: 5).with(threads_count: 8)
    advice = ask(Advise::Rules::StarvedPool, observation: recorded(50, locks: [jobs])).first
    assert_equal({"config/database.yml" => "max_connections: 8"}, advice.lines)
    assert_match(/\A8 places in the pool, one for each thread of a worker, with 3 of jobs and the like that were seen to query; or/, advice.change)
    two = recorded(50, locks: [jobs.with(threads_count: 10)]).with(processes: [process_observation(role: "worker")] * 2)
    assert_empty ask(Advise::Rules::StarvedPool, observation: two).first.lines, "five in each of two processes"
  end

  test "where nothing but requests' demands is known, they tell" do
    waiting = workload(endpoints: [endpoint_demand(demand([1, 1], [1], wait_kinds: %w[pool]))])
    assert_match(/33\.3%/, ask(Advise::Rules::StarvedPool, of: waiting).first.evidence.first)
  end
end
