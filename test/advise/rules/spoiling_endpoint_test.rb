# frozen_string_literal: true

require "test_helper"
require "support/advising"

class SpoilingEndpointRuleTest < TunerTest
  include Advising

  # @param gvl_wait_ms [Numeric] of 1,000 ms of the fast requests; blamed_ms: of it, while the report held the GVL
  # @param reports_count [Integer] beside 90 fast ones
  def recorded(gvl_wait_ms: 300, blamed_ms: 200, reports_count: 10)
    fast = endpoint_observation(name: "GET /fast", requests_count: 90, budget: {wall_ns: 1_000 * MS, gvl_wait_ns: gvl_wait_ms * MS})
      .with(blame: [Probe::Blame.new(kind: "request", holder: "GET /report", wait_ns: blamed_ms * MS)])
    report = endpoint_observation(name: "GET /report", requests_count: reports_count, budget: {wall_ns: 2_000 * MS, cpu_ns: 1_200 * MS, gc_ns: 0})
    observation(endpoints: [fast, report])
  end

  def asked(**) = ask(Advise::Rules::SpoilingEndpoint, observation: recorded(**))

  test "the endpoint that held the GVL while the others waited is named" do
    advice = asked.first
    assert_equal "GET /report makes the others wait", advice.title
    assert_equal "The other requests (90) waited for the GVL for 3.33 ms in the mean; for 66.7% of that it was GET /report that held it.", advice.evidence.first
    assert_equal "GET /report is 10.0% of the requests, and takes 120 ms of CPU each time.", advice.evidence.last
    assert_predicate advice, :remark?
  end

  test "what others wait for the GVL without it is forecast, where anything is" do
    asked = []
    advice = ask(Advise::Rules::SpoilingEndpoint, observation: recorded) { |what_if, _| asked << what_if and forecast("1x5", 100).with(gvl_wait_ns: estimate(1.0 * MS)) }.first
    assert_equal ["weight(GET /report)*0"], asked.compact
    assert_match(/predicted to wait for the GVL for 1\.00 ms/, advice.evidence.last)
  end

  test "a shorter time slice is said to help where its forecast says so, and where this Ruby has one" do
    told = ->(of: workload, p99_ms: 100, p50_ms: 50) {
      ask(Advise::Rules::SpoilingEndpoint, observation: recorded, of:) { |_, settings|
        forecast("1x5", 100, p99_ms: settings[:timeslice_ms] ? p99_ms : 100).with(p50_ns: estimate((settings[:timeslice_ms] ? p50_ms : 50) * MS))
      }.first.change
    }
    assert_match(/background job; a shorter time slice helps the others while it stays\z/, told.call(p50_ms: 30))
    [{}, {p50_ms: 30, p99_ms: 120}, {p50_ms: 30, of: workload(ruby_version: "3.3.9")}, {p50_ms: 30, of: workload(timeslice_ms: 10)}].each do |facts|
      assert_match(/background job\z/, told.call(**facts))
    end
  end

  test "nobody is named where others hardly wait, where it is all requests' doing, or where it is most of the requests" do
    assert_empty asked(gvl_wait_ms: 199, blamed_ms: 199)
    assert_empty asked(blamed_ms: 149)
    assert_empty asked(reports_count: 31)
    assert_empty ask(Advise::Rules::SpoilingEndpoint, observation:)
    assert_empty ask(Advise::Rules::SpoilingEndpoint)
  end
end
