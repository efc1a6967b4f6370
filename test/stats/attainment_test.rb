# frozen_string_literal: true

require "test_helper"

class AttainmentTest < TunerTest
  Attainment = PumaTuner::Stats::Attainment
  Histogram = PumaTuner::Probe::Histogram

  def of(met_count, count = 1_000, text = "90% < 300ms") = Attainment.of(PumaTuner::Goal.read(text), met_count, count)

  test "a goal is met when as many requests as it wants took less" do
    assert_predicate of(900), :met?
    refute_predicate of(899), :met?
    assert_equal 0.9, of(900).share.value
    assert_in_delta 0.88, of(900).share.low, 0.002
  end

  test "a histogram tells how many are below a limit, to the width of a bucket" do
    durations_ns = (1..1_000).map { |number| number * 1_000_000 }
    histogram = Histogram.of(durations_ns)
    [1, 37, 300, 999].each { |ms| assert_in_delta ms, histogram.count_below(ms * 1_000_000), [ms / 64.0, 1].max }
    assert_equal [0.0, 1_000.0], [histogram.count_below(0), histogram.count_below(2_000_000_000)]
    assert_equal 3.0, Histogram.of([0, 0, 0, 5_000_000]).count_below(1_000)
  end
end
