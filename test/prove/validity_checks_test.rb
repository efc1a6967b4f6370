# frozen_string_literal: true

require "test_helper"

class ValidityChecksTest < TunerTest
  include PumaTuner

  CLOSED = Load::Arrivals.closed
  OPEN = Load::Arrivals.open(100)

  def outcome(**fields)
    Load::Outcome.new(generator: "fake", connections_count: 10, duration_ns: 1_000_000_000, requests_count: 1_000, throughput_per_s: 1_000.0, mean_ns: 10_000_000,
      p50_ns: 9_000_000, p90_ns: 15_000_000, p99_ns: 20_000_000, statuses: {"200" => 1_000}, unexpected_count: 0, socket_errors_count: 0, unknown: [], **fields)
  end

  def broken(conditions = {}, outcome: self.outcome, arrivals: CLOSED, **) = Prove::ValidityChecks.failed(outcome, conditions, arrivals:, **)&.then { |void| in_words(void.detail) }

  test "a quiet trial with right responses breaks none" do
    assert_nil broken({"foreign_cpu_ratio" => 0.02, "stolen_ratio" => 0, "throttled_count" => 0, "generator_cpu_ratio" => 0.2, "in_flight_ratio" => 0.98})
  end

  test "wrong responses void a trial" do
    assert_match(/3 of 1000 responses had an unexpected status/, broken(outcome: outcome(unexpected_count: 3)))
    assert_match(/no request was answered/, broken(outcome: outcome(requests_count: 0)))
  end

  test "more requests in flight than connections, or far fewer, break Little's law" do
    assert_match(/Little/, broken({"in_flight_ratio" => 4.98}))
    assert_match(/Little/, broken({"in_flight_ratio" => 0.5}))
    assert_nil broken({"in_flight_ratio" => 0.3}, arrivals: OPEN)
  end

  test "requests that a turn's beginning and end cut in two are missing from Little's law, or too many, and allowed for" do
    [0.72, 1.15].each do |in_flight_ratio|
      assert_nil broken({"in_flight_ratio" => in_flight_ratio}, outcome: outcome(mean_ns: 100_000_000))
      assert_match(/Little/, broken({"in_flight_ratio" => in_flight_ratio}, outcome: outcome(mean_ns: 10_000_000)))
      assert_nil broken({"in_flight_ratio" => in_flight_ratio}, outcome: outcome(mean_ns: 10_000_000), turns_count: 10)
    end
  end

  test "answers of half a second in a load of three seconds do not break it" do
    assert_nil broken({"in_flight_ratio" => 1.025}, outcome: outcome(mean_ns: 500_000_000, duration_ns: 3_000_000_000))
  end

  test "what the app does wrong is told apart from what the generator does" do
    assert_equal :failed, Prove::ValidityChecks.failed(outcome(unexpected_count: 3), {}, arrivals: CLOSED).kind
    assert_equal :generator, Prove::ValidityChecks.failed(outcome, {"generator_cpu_ratio" => 0.95}, arrivals: CLOSED).kind
  end

  test "a generator that is busy all the time, or late" do
    assert_match(/bottleneck/, broken({"generator_cpu_ratio" => 0.95}))
    assert_match(/sent 3.00 ms late/, broken({"lag_p99_ns" => 3_000_000}, arrivals: OPEN))
    assert_nil broken({"lag_p99_ns" => 900_000}, arrivals: OPEN)
    assert_nil broken({"lag_p99_ns" => 3_000_000}, outcome: outcome(p50_ns: 100_000_000), arrivals: OPEN)
  end

  test "lateness voids a trial when it made the median or p99 longer by a tenth, and not when other requests were late" do
    late = ->(of_request) { times([20] * 98 + [200] * 2) { |ms, index| ms + of_request.call(index) } }
    lag = {"lag_p99_ns" => 3_000_000}
    assert_nil broken(lag, outcome: late.call(->(index) { (index % 4).zero? ? 3 : 0 }), arrivals: OPEN)
    assert_match(/sent 3.00 ms late/, broken(lag, outcome: late.call(->(_) { 3 }), arrivals: OPEN))
    assert_match(/sent 3.00 ms late/, broken(lag, outcome: late.call(->(index) { (index > 97) ? 30 : 0 }), arrivals: OPEN))
  end

  # @yieldreturn [Numeric] milliseconds from the intended instant, of those from when it was sent
  def times(service_ms)
    histograms = [service_ms.each_with_index.map { |ms, index| yield(ms, index) }, service_ms].map do |all_ms|
      PumaTuner::Probe::Histogram.of(all_ms.map { |ms| (ms * 1_000_000).round })
    end
    outcome(latency: histograms.first, service: histograms.last)
  end

  def unequal(one, other) = Prove::ValidityChecks.unequal_bodies({"a" => outcome(body_bytes_ranges: one), "b" => outcome(body_bytes_ranges: other)})

  test "responses of other lengths are not the same" do
    assert_match(/the responses to request 1 are of 5 bytes with a, and of 3700 bytes with b/, unequal([[5, 5]], [[3_700, 3_700]]))
    assert_match(/request 2/, unequal([[5, 5], [100, 110]], [[5, 5], [200, 210]]))
    assert_nil unequal([[5, 5], [1_000, 1_004]], [[5, 5], [1_006, 1_010]])
    assert_nil unequal([[5, 5], nil], [[5, 5], [10, 10]])
  end

  test "generators that do not look at bodies prove nothing of them" do
    assert_nil Prove::ValidityChecks.unequal_bodies({"a" => outcome, "b" => outcome})
  end
end
