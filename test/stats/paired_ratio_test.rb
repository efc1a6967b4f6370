# frozen_string_literal: true

require "test_helper"

class PairedRatioTest < TunerTest
  PairedRatio = PumaTuner::Stats::PairedRatio

  # Sums of ranks up to which the two-sided signed-rank test rejects at 5%, as printed in textbooks' tables.
  CRITICAL_SUMS = {6 => 0, 7 => 2, 8 => 3, 9 => 5, 10 => 8, 11 => 10, 12 => 13, 15 => 25, 20 => 52, 25 => 89, 30 => 137}.freeze

  # Every pair tripled, but for some disturbance.
  def pairs(count, random, spread: 0.1)
    baseline = Array.new(count) { 50 + 100 * random.rand }
    [baseline, baseline.map { |value| value * 3 * Math.exp(spread * (random.rand - 0.5)) }]
  end

  # Slow and plain: asks for each average how many sign patterns have so low a rank sum.
  def coverage_by_listing(count, rank)
    sums = [1, -1].repeated_permutation(count).map { |signs| signs.each_with_index.sum { |sign, index| (sign == 1) ? index + 1 : 0 } }
    1 - 2.0 * sums.count { |sum| sum < rank } / sums.size
  end

  test "agrees with the tables of critical rank sums" do
    found = CRITICAL_SUMS.to_h { |count, _| [count, PairedRatio.rank_and_level(count, 0.95).first - 1] }
    assert_equal CRITICAL_SUMS, found
  end

  test "knows the exact coverage" do
    assert_in_delta 0.96875, PairedRatio.rank_and_level(6, 0.95).last, 1e-12
    (6..12).each do |count|
      rank, reached = PairedRatio.rank_and_level(count, 0.95)
      assert_in_delta coverage_by_listing(count, rank), reached, 1e-12
      assert_operator coverage_by_listing(count, rank + 1), :<, 0.95
    end
  end

  test "takes the outermost averages of six pairs" do
    logs = [0.1, -0.2, 0.4, 0.0, 0.3, 0.25]
    estimate = PairedRatio.of([1.0] * 6, logs.map { |log| Math.exp(log) })
    assert_in_delta Math.exp(-0.2), estimate.low, 1e-12
    assert_in_delta Math.exp(0.4), estimate.high, 1e-12
    assert_equal 6, estimate.samples_count
  end

  test "gives the range, and claims no level, where too few pairs cannot reach it" do
    estimate = PairedRatio.of([1, 1, 1, 1, 1], [1, 2, 3, 4, 5])
    assert_nil estimate.level_ratio
    assert_in_delta 1, estimate.low, 1e-12
    assert_in_delta 5, estimate.high, 1e-12
    assert_in_delta 0.9375, PairedRatio.of([1] * 5, [1, 2, 3, 4, 5], level_ratio: 0.9).level_ratio, 1e-12
  end

  test "is the one ratio of one pair" do
    estimate = PairedRatio.of([4], [6])
    assert_equal [1.5, 1.5, 1.5], [estimate.value, estimate.low, estimate.high].map { |number| number.round(12) }
    assert_nil estimate.level_ratio
  end

  test "has its point at the median of the averages" do
    # The averages of 0, 1 and 5 are 0, 0.5, 1, 2.5, 3, 5.
    assert_in_delta Math.exp(1.75), PairedRatio.of([1, 1, 1], [0, 1, 5].map { |log| Math.exp(log) }).value, 1e-12
  end

  test "does not care for the unit" do
    baseline, variant = pairs(10, Random.new(2))
    plain = PairedRatio.of(baseline, variant)
    scaled = PairedRatio.of(baseline.map { |value| value * 1e6 }, variant.map { |value| value * 1e6 })
    %i[value low high].each { |field| assert_in_delta plain.public_send(field), scaled.public_send(field), 1e-9 }
  end

  test "turns over when the two change places" do
    baseline, variant = pairs(9, Random.new(3))
    there = PairedRatio.of(baseline, variant)
    back = PairedRatio.of(variant, baseline)
    assert_in_delta 1 / there.value, back.value, 1e-12
    assert_in_delta 1 / there.low, back.high, 1e-12
    assert_in_delta 1 / there.high, back.low, 1e-12
  end

  test "is certain of equal values" do
    estimate = PairedRatio.of([5] * 8, [5] * 8)
    assert_equal [1.0, 1.0, 1.0], [estimate.value, estimate.low, estimate.high]
  end

  test "is hardly moved by one disturbed pair in twelve" do
    baseline, variant = pairs(12, Random.new(4))
    variant[5] *= 10
    estimate = PairedRatio.of(baseline, variant)
    assert_in_delta 3, estimate.value, 0.1
    assert_operator estimate.high, :<, 3.5
  end

  test "leaves the truth out no more often than it says" do
    random = Random.new(5)
    [6, 10, 12, 20].each do |count|
      missed = 1_000.times.count { !PairedRatio.of(*pairs(count, random)).covers?(3) }
      wanted = 1_000 * (1 - PairedRatio.rank_and_level(count, 0.95).last)
      # Four standard deviations of a binomial count, either way: neither false alarms nor needless width.
      assert_in_delta wanted, missed, 4 * Math.sqrt(wanted), "#{count} pairs"
      assert_operator wanted, :<=, 50
    end
  end

  test "its p-value and its interval say the same" do
    random = Random.new(6)
    [[6, 0.95], [9, 0.95], [12, 0.98], [20, 0.95]].each do |count, level_ratio|
      100.times do
        baseline = Array.new(count) { 1 + random.rand }
        variant = baseline.map { |value| value * Math.exp(0.06 * (random.rand - 0.2)) }
        estimate = PairedRatio.of(baseline, variant, level_ratio:)
        assert_equal !estimate.covers?(1), PairedRatio.p_value(baseline, variant) <= 1 - estimate.level_ratio + 1e-12
      end
    end
  end

  test "equal ratios are ties, and equal values no difference, whatever their unit" do
    assert_equal 1.0, PairedRatio.p_value([0.1, 0.7, 3.0] * 3, [0.1, 0.7, 3.0] * 3)
    # Six of 2/3 and two of 3/2, all of mean rank 4.5: 2 or fewer of 8 coins.
    one, other = [3, 0.3, 3_000, 0.33, 6, 9, 2, 0.2], [2, 0.2, 2_000, 0.22, 4, 6, 3, 0.3]
    assert_in_delta 2 * 37 / 256.0, PairedRatio.p_value(one, other), 1e-12
  end

  test "its spread is the standard deviation of normal pairs" do
    random = Random.new(7)
    [4, 6, 12, 40].each do |count|
      found = Array.new(200) do
        logs = Array.new(count) { 0.05 * Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand) }
        PairedRatio.sd([2] * count, logs.map { |log| 2 * Math.exp(log) })
      end
      assert_in_delta 0.05, found.sum / found.size, 0.005, "#{count} pairs"
    end
  end

  test "its standard deviation is nil for one pair, and zero for equal pairs" do
    assert_in_delta Math.log(2) / Math.sqrt(2), PairedRatio.sd([1, 1], [1, 2]), 1e-9
    assert_nil PairedRatio.sd([1], [2])
    assert_equal 0, PairedRatio.sd([3] * 7, [4] * 7)
  end

  test "refuses what is no pair of ratios" do
    assert_raises(ArgumentError) { PairedRatio.of([1, 2], [1]) }
    assert_raises(ArgumentError) { PairedRatio.of([], []) }
    assert_raises(ArgumentError) { PairedRatio.of([1, 0], [1, 1]) }
    assert_raises(ArgumentError) { PairedRatio.of([1, 1], [1, -1]) }
  end
end
