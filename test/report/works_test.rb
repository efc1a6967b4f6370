# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportWorksTest < TunerTest
  Works = PumaTuner::Report::Sections::Works

  def endpoint(shares = {cpu: 0.5}, name: "GET /", before_puma_ms: nil) = TuningFixture.endpoint(name, 100, 10.0, 9.0, 20.0, shares, before_puma_ms)

  def notes(*endpoints) = Works.new(endpoints)

  def groups(rows_max) = Works.groups(TuningFixture.observation.endpoints, rows_max)

  test "the quantiles come with their error" do
    assert_equal ["p50 and p99 come from a histogram of all requests, accurate to ±1.6%."], notes(endpoint).notes
  end

  test "a wait for a pool and for another's garbage collection is told from half a percent of the time" do
    told = notes(endpoint({lock: 0.2, pool: 0.05, gvl_wait: 0.1, gc_waited: 0.005})).facts
    assert_equal ["Of lock: 25.0% waiting for a connection pool.", "Of gvlwait: 5.0% while another thread collected garbage."], told
    assert_empty notes(endpoint({lock: 0.2, pool: 0.004, gvl_wait: 0.1, gc_waited: 0.004})).facts
  end

  test "the kinds of io are told in one sentence" do
    told = notes(endpoint({io: 0.5, db: 0.25, redis: 0.004, http: 0.1, file: 0.0})).facts
    assert_equal ["Of io: 50.0% for a database and 20.0% for another HTTP server."], told
    older = endpoint({io: 0.5}).then { |each| each.with(budget: each.budget.with(db_ns: nil, redis_ns: nil, http_ns: nil, file_ns: nil)) }
    assert_empty notes(older).facts
  end

  test "the time before Puma is the mean of those that a proxy stamped" do
    told = notes(endpoint(before_puma_ms: 4.0), endpoint(name: "GET /health")).facts
    assert_equal ["Before Puma: mean 4.00 ms per request (by the proxy's clock)."], told
  end

  test "requests that do not add up are counted" do
    assert_equal ["3 of 200 requests (1.5%) have parts that do not add up to their wall time within 1%."], notes(endpoint.with(unaccounted_count: 3), endpoint).facts
    [0, nil].each { |unaccounted_count| assert_empty notes(endpoint, endpoint.with(unaccounted_count:)).facts }
  end

  test "the busiest come first, and the rest is one with the quantiles of all its requests" do
    assert_equal ["GET /articles", "GET /articles/:id", "3 others"], groups(3).map(&:name)
    assert_equal 1_112, groups(3).last.latency.count
    assert_in_delta 112 * 1_000_000, groups(3).last.p50_ns, 8 * 1_000_000
  end

  test "all endpoints are shown where they fit" do
    assert_equal TuningFixture::ENDPOINTS.map(&:first), groups(5).map(&:name)
  end
end
