# frozen_string_literal: true

require "test_helper"

class SampleTest < TunerTest
  Sample = PumaTuner::Calibrate::Sample

  def sample(*values_ns) = Sample.new(values_ns:)

  test "the median stands for all, whatever a neighbour did to some" do
    assert_equal 10, sample(10, 9, 11, 10, 5_000).median_ns
    assert_equal 15, sample(20, 10).median_ns
  end

  test "thinned, it has the same mean, also with a rare long value" do
    values_ns = Array.new(319) { |index| 100 + index } + [1_000_000]
    thin = sample(*values_ns.shuffle(random: Random.new(1))).thinned(64)
    assert_equal 64, thin.size
    assert_equal thin.sort, thin
    assert_in_delta values_ns.sum.fdiv(320), thin.sum.fdiv(64), 1
    assert_equal 100 + 2, thin.first
    assert(thin.all?(Integer))
  end

  test "fewer than are to be kept are all kept" do
    assert_equal [1, 2, 3], sample(3, 1, 2).thinned(64)
  end

  test "it is printed with its range and sample count" do
    assert_equal "10.0 ms (9.00 ms to 12.0 ms, 3 samples)", sample(12_000_000, 9_000_000, 10_000_000).to_s
    assert_equal "10.0 ms", sample(10_000_000).to_s
  end

  test "a calibration without figures is refused" do
    assert_match(/too busy; run it again/, assert_raises(PumaTuner::InvalidMeasurement) { sample }.message)
  end
end
