# frozen_string_literal: true

require "test_helper"

class OutcomeTest < TunerTest
  Outcome = PumaTuner::Load::Outcome

  def outcome(**changes)
    Outcome.new(generator: "wrk 4.1.0", connections_count: 10, duration_ns: 2_000_000_000, requests_count: 400, throughput_per_s: 200.0,
      mean_ns: 50_000_000, p50_ns: 49_000_000, p90_ns: 60_000_000, p99_ns: 80_000_000, statuses: {"200" => 400},
      unexpected_count: 0, socket_errors_count: 0, unknown: {}, **changes)
  end

  test "has no complaint when all went well" do
    assert_nil outcome.complaint
    assert_same (good = outcome), good.insist_on_expected_answers
  end

  test "complains of wrong answers, broken connections and silence" do
    {
      {unexpected_count: 3, statuses: {"200" => 397, "500" => 3}} => /3 of 400 answers had an unexpected status \(200: 397, 500: 3\)/,
      {socket_errors_count: 2} => /2 connections broke or were refused, beside 400 answers/,
      {requests_count: 0, mean_ns: nil, statuses: {}} => /no request was answered/
    }.each do |changes, said|
      assert_match said, outcome(**changes).complaint
      assert_match said, assert_raises(PumaTuner::VoidMeasurement) { outcome(**changes).insist_on_expected_answers }.message
    end
  end

  test "goes through JSON and back" do
    assert_equal outcome, Outcome.from_document(JSON.parse(JSON.generate(outcome.to_document)))
  end

  test "is frozen through and through" do
    assert Ractor.shareable?(outcome)
  end
end
