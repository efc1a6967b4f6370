# frozen_string_literal: true

require "test_helper"
require "support/advising"

class QueriesRuleTest < TunerTest
  include Advising

  # @param count [Integer] of queries, each of a millisecond; cpu_ms: beside them
  def asking(count, cpu_ms: 2) = workload(endpoints: [endpoint_demand(demand([cpu_ms, *[0] * count], [1] * count, wait_kinds: ["db"] * count), name: "GET /list")])

  # @yieldparam threads_count [Integer]; tuned: whether queries were saved
  def asked(of, gems: {}) = ask(Advise::Rules::Queries, of:, observation: in_force(observation, **gems)) { |what_if, settings| forecast("1x#{settings[:topology]&.threads_count || 5}", yield(settings[:topology]&.threads_count || 5, !what_if.nil?)) }

  test "an endpoint that asks again and again for over half of its time is named, with the forecast of two queries" do
    what_ifs = []
    advice = ask(Advise::Rules::Queries, of: asking(20)) { |what_if, settings| what_ifs << what_if and forecast("1x5", 300) }.first
    assert_equal "GET /list asks the database 20 times: fewer queries before more threads", advice.title
    assert_equal "GET /list waits for the database for 20.0 ms, 90.9% of its time, in 20.0 round trips (mean of 1 recorded requests).", advice.evidence.first
    assert_includes what_ifs, "io(db, GET /list)*0.1"
    assert_in_delta 3.0, advice.throughput_ratio.value
  end

  test "few queries, or a smaller share of the time, are no N+1" do
    assert_empty ask(Advise::Rules::Queries, of: asking(9))
    assert_empty ask(Advise::Rules::Queries, of: asking(20, cpu_ms: 21))
    refute_empty ask(Advise::Rules::Queries, of: asking(20, cpu_ms: 20))
  end

  test "how many threads are enough, before and after, is told" do
    advice = asked(asking(20)) { |threads_count, tuned| tuned ? 500 : [100 * threads_count, 800].min }.first
    assert_equal "By the forecasts 8 threads in each worker are enough today, and 1 once two queries do: who waits less needs fewer threads.", advice.evidence.last
  end

  test "where as many threads are needed once the queries are tuned, nobody says that fewer are" do
    advice = asked(asking(20)) { |threads_count, tuned| [100 * threads_count, tuned ? 1_600 : 800].min }.first
    assert_equal "By the forecasts 8 threads in each worker are enough today, and 16 once two queries do.", advice.evidence.last
  end

  test "Rails' own words are for Rails" do
    assert_match(/includes/, ask(Advise::Rules::Queries, of: asking(20), observation: in_force(observation, "gem activerecord": "8.1.0")).first.change)
    refute_match(/includes/, ask(Advise::Rules::Queries, of: asking(20)).first.change)
  end

  # @param loads_count [Integer] in 100 requests
  def counted(loads_count) = observation(endpoints: [endpoint_observation(name: "GET /list", requests_count: 100).with(queries: {"Comment Load" => loads_count, "Post Load" => 100})])

  test "a query that a request makes ten times is told by its name, though SQLite never waits" do
    in_process = workload(endpoints: [endpoint_demand(demand([10]), name: "GET /list")])
    advice = ask(Advise::Rules::Queries, of: in_process, observation: counted(1_200)) { forecast("1x5", 300) }.first
    assert_equal "GET /list asks the database 13 times", advice.title
    assert_equal ['A mean request of GET /list makes the query "Comment Load" 12.0 times.'], advice.evidence
    assert_predicate advice, :remark?, "what SQLite takes is not told from what else is computed"
    assert_empty ask(Advise::Rules::Queries, of: in_process, observation: counted(999))
  end
end
