# frozen_string_literal: true

require "test_helper"

# The arithmetic of it; the test itself is run in native_test.rb.
class SelfTestTest < TunerTest
  SelfTest = PumaTuner::Load::SelfTest

  def result(p50: 2_600_000, p90: 403_000_000, p99: 942_000_000, answered_count: 1_200, lag_p99_ns: 40_000, server_late_ns: 60_000)
    lines = {"p50" => p50, "p90" => p90, "p99" => p99}.map do |name, reported_ns|
      SelfTest::Line.new(name:, true_ns: SelfTest.true_quantile_ns(SelfTest::RATIOS.fetch(name.to_sym)), reported_ns:)
    end
    SelfTest::Result.new(lines:, intended_count: 1_200, answered_count:, lag_p99_ns:, server_late_ns:)
  end

  test "knows the truth in closed form" do
    # 1,000 requests of 2.5 ms; 200 that are due 5, 10, … 1,000 ms before the server goes on.
    latencies = [2.5] * 1_000 + (1..200).map { |number| number * 5.0 }
    SelfTest::RATIOS.each_value do |ratio|
      assert_in_delta PumaTuner::Stats::Quantile.of(latencies.sort, ratio), SelfTest.true_quantile_ns(ratio) / 1e6, 2.6
    end
    assert_in_delta 400_000_000, SelfTest.true_quantile_ns(0.9), 1
  end

  test "is right within 2% or a millisecond, and only when every request is accounted for" do
    assert_predicate result, :right?
    assert_predicate result(p50: 3_400_000, p90: 407_900_000, p99: 922_000_000), :right?
    [{p50: 3_600_000}, {p50: 1_400_000}, {p90: 409_000_000}, {p99: 920_000_000}, {p99: nil}, {answered_count: 1_199}].each do |changes|
      refute_predicate result(**changes), :right?, changes.to_s
    end
  end

  test "tells what disturbed it, be it right or wrong" do
    assert_empty result.disturbed
    assert_empty result(lag_p99_ns: nil, server_late_ns: nil).disturbed
    late = result(lag_p99_ns: 4_000_000, server_late_ns: 1_200_000_000, answered_count: 1_100)
    assert_equal({generator: 4_000_000, server: 1_200_000_000}, late.disturbed)
    assert_includes PumaTuner::Report.render(late, format: :text), "The generator is wrong (the generator was 4.00 ms late, the server was 1.20 s late: run it again)"
  end
end
