# frozen_string_literal: true

require "test_helper"

class StudentTTest < TunerTest
  StudentT = PumaTuner::Stats::StudentT

  # As printed in textbooks' tables: freedom => values for 0.90, 0.95, 0.975, 0.99, 0.995.
  TABLE = {
    1 => [3.078, 6.314, 12.706, 31.821, 63.657], 2 => [1.886, 2.920, 4.303, 6.965, 9.925], 5 => [1.476, 2.015, 2.571, 3.365, 4.032],
    9 => [1.383, 1.833, 2.262, 2.821, 3.250], 10 => [1.372, 1.812, 2.228, 2.764, 3.169], 19 => [1.328, 1.729, 2.093, 2.539, 2.861],
    30 => [1.310, 1.697, 2.042, 2.457, 2.750], 120 => [1.289, 1.658, 1.980, 2.358, 2.617],
    Float::INFINITY => [1.282, 1.645, 1.960, 2.326, 2.576]
  }.freeze

  test "agrees with the tables" do
    found = TABLE.to_h { |freedom, _| [freedom, [0.90, 0.95, 0.975, 0.99, 0.995].map { |probability| StudentT.quantile(probability, freedom).round(3) }] }
    assert_equal TABLE, found
  end

  test "is Cauchy's with one degree of freedom, and known with two" do
    [-4, -0.3, 0, 1, 50].each do |t|
      assert_in_delta 0.5 + Math.atan(t) / Math::PI, StudentT.probability(t, 1), 1e-13
      assert_in_delta 0.5 + t / (2 * Math.sqrt(2 + t * t)), StudentT.probability(t, 2), 1e-13
    end
  end

  test "approaches the normal distribution" do
    [0.6, 0.9, 0.9999].each { |ratio| assert_in_delta StudentT.quantile(ratio, Float::INFINITY), StudentT.quantile(ratio, 1e7), 1e-4 }
  end

  test "a value has the probability of its quantile, on either side" do
    [0.001, 0.2, 0.5, 0.8, 0.98333, 0.999999].each do |ratio|
      [1, 3, 11, 199].each { |freedom| assert_in_delta ratio, StudentT.probability(StudentT.quantile(ratio, freedom), freedom), 1e-12 }
    end
    assert_in_delta(-StudentT.quantile(0.9, 4), StudentT.quantile(0.1, 4), 1e-12)
  end

  test "is the same when it is asked for again, whatever was asked for in between" do
    ratios = Array.new(1_500) { |index| 0.5 + index / 3_100.0 }
    once, again = Array.new(2) { ratios.map { |ratio| StudentT.quantile(ratio, Float::INFINITY) } }
    assert_equal once, again
    assert_equal once.sort.uniq, once
  end
end
