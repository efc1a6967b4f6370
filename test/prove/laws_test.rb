# frozen_string_literal: true

require "test_helper"

class LawsTest < TunerTest
  include PumaTuner

  CLOSED = Load::Arrivals.closed
  OPEN = Load::Arrivals.open(100)

  def outcome(**fields)
    Load::Outcome.new(generator: "fake", connections_count: 10, duration_ns: 1_000_000_000, requests_count: 1_000, throughput_per_s: 1_000.0, mean_ns: 10_000_000,
      p50_ns: 9_000_000, p90_ns: 15_000_000, p99_ns: 20_000_000, statuses: {"200" => 1_000}, unexpected_count: 0, socket_errors_count: 0, unknown: {}, **fields)
  end

  def broken(conditions = {}, outcome: self.outcome, arrivals: CLOSED, earlier: [])
    Prove::Laws.broken(outcome, conditions, arrivals:) || Prove::Laws.disturbed(conditions, earlier)
  end

  def trials(waits) = waits.map { |wait| Prove::Trial.new(variant: "a", round: 0, position: 0, requests_count: 1, conditions: {"run_queue_wait_ratio" => wait}) }

  test "a quiet trial with right answers breaks none" do
    assert_nil broken({"foreign_cpu_ratio" => 0.02, "stolen_ratio" => 0, "throttled_count" => 0, "generator_cpu_ratio" => 0.2, "in_flight_ratio" => 0.98})
  end

  test "wrong answers" do
    assert_match(/3 of 1000 answers had an unexpected status/, broken(outcome: outcome(unexpected_count: 3)))
    assert_match(/no request was answered/, broken(outcome: outcome(requests_count: 0)))
  end

  test "more requests in flight than connections, or far fewer, break Little's law" do
    assert_match(/Little/, broken({"in_flight_ratio" => 4.98}))
    assert_match(/Little/, broken({"in_flight_ratio" => 0.5}))
    assert_nil broken({"in_flight_ratio" => 0.3}, arrivals: OPEN)
  end

  test "what is under way at the end of each turn is missing from Little's law, and allowed for" do
    assert_nil Prove::Laws.broken(outcome(mean_ns: 100_000_000), {"in_flight_ratio" => 0.72}, arrivals: CLOSED)
    assert_match(/Little/, Prove::Laws.broken(outcome(mean_ns: 10_000_000), {"in_flight_ratio" => 0.72}, arrivals: CLOSED))
    assert_nil Prove::Laws.broken(outcome(mean_ns: 10_000_000), {"in_flight_ratio" => 0.72}, arrivals: CLOSED, turns_count: 10)
  end

  test "a generator that is busy all the time, or late" do
    assert_match(/bottleneck/, broken({"generator_cpu_ratio" => 0.95}))
    assert_match(/sent 3.00 ms late/, broken({"lag_p99_ns" => 3_000_000}, arrivals: OPEN))
    assert_nil broken({"lag_p99_ns" => 900_000}, arrivals: OPEN)
    assert_nil broken({"lag_p99_ns" => 3_000_000}, outcome: outcome(p50_ns: 100_000_000), arrivals: OPEN)
  end

  test "others on the machine" do
    assert_match(/others used 40.0% of the machine/, broken({"foreign_cpu_ratio" => 0.4}))
    assert_match(/hypervisor took 9.0%/, broken({"stolen_ratio" => 0.09}))
    assert_match(/quota was used up 2 times/, broken({"throttled_count" => 2}))
  end

  test "a run queue longer than this variant's usual one, once that is known" do
    assert_match(/waited for a core for 50.0% of their time, usually 20.0%/, broken({"run_queue_wait_ratio" => 0.5}, earlier: trials([0.2, 0.19, 0.21])))
    assert_nil broken({"run_queue_wait_ratio" => 0.5}, earlier: trials([0.2, 0.19]))
    assert_nil broken({"run_queue_wait_ratio" => 0.3}, earlier: trials([0.2, 0.19, 0.21]))
  end

  def unequal(one, other) = Prove::Laws.unequal_bodies({"a" => outcome(body_bytes_ranges: one), "b" => outcome(body_bytes_ranges: other)})

  test "answers of other lengths are not the same answers" do
    assert_match(/the answers to request 1 are of 5 bytes with a, and of 3700 bytes with b/, unequal([[5, 5]], [[3_700, 3_700]]))
    assert_match(/request 2/, unequal([[5, 5], [100, 110]], [[5, 5], [200, 210]]))
    assert_nil unequal([[5, 5], [1_000, 1_004]], [[5, 5], [1_006, 1_010]])
    assert_nil unequal([[5, 5], nil], [[5, 5], [10, 10]])
  end

  test "generators that do not look at bodies prove nothing of them" do
    assert_nil Prove::Laws.unequal_bodies({"a" => outcome, "b" => outcome})
  end
end
