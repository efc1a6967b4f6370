# frozen_string_literal: true

require "test_helper"

class BlockBootstrapTest < TunerTest
  Bootstrap = PumaTuner::Stats::BlockBootstrap

  def of_means(values, random: Random.new(1), resamples_count: 1_000)
    Bootstrap.of(values.size, random:, resamples_count:) { |weights| [values.zip(weights).sum { |value, weight| value * weight } / values.size] }.first
  end

  test "is Student's interval for a mean" do
    random = Random.new(3)
    logs = Array.new(9) { 0.2 + normal(random) * 0.1 }
    ours = of_means(logs, resamples_count: 20_000).estimate
    students = PumaTuner::Stats::StudentRatio.of(Array.new(9, 1.0), logs.map { |log| Math.exp(log) })
    assert_in_delta students.value, ours.value, 1e-9
    assert_in_delta Math.log(students.high / students.low), Math.log(ours.high / ours.low), 0.02 * Math.log(students.high / students.low)
    assert_equal 9, ours.samples_count
  end

  test "covers the truth about as often as it says where days differ and hours are correlated" do
    random = Random.new(5)
    carried = 0.0
    covered_count = 400.times.count do
      days = Array.new(7) do
        day = normal(random) * 0.03
        hours = Array.new(24) { day + (carried = carried * 0.7 + normal(random) * 0.03) }
        hours.sum / 24
      end
      of_means(days, random:, resamples_count: 150).estimate.covers?(1)
    end
    assert_in_delta 0.95, covered_count / 400.0, 0.04
  end

  test "the p-value and the interval agree whether 1 is covered" do
    random = Random.new(7)
    60.times do
      result = of_means(Array.new(6) { 0.05 + normal(random) * 0.06 }, random:, resamples_count: 200)
      assert_equal !result.estimate.covers?(1), result.p_value < 0.05
    end
  end

  test "gives no interval for too few blocks" do
    assert_nil of_means([0.1, 0.1, 0.1])
  end

  test "equal blocks leave no doubt" do
    result = of_means([0.5] * 5)
    assert_in_delta Math.exp(0.5), result.estimate.low, 1e-9
    assert_equal 0.0, result.p_value.round(6)
    assert_equal 1.0, of_means([0.0] * 5).p_value
  end

  test "several statistics are drawn together, and one that mostly fails has none" do
    results = Bootstrap.of(5, random: Random.new(1), resamples_count: 100) { |weights| [weights[0] * 0.1, (0.3 if weights.all?(1)), nil] }
    assert_kind_of Bootstrap::Result, results[0]
    assert_nil results[1]
    assert_nil results[2]
  end

  test "the same seed gives the same interval" do
    assert_equal of_means([0.1, 0.2, 0.3, 0.1], random: Random.new(2)), of_means([0.1, 0.2, 0.3, 0.1], random: Random.new(2))
  end
end
