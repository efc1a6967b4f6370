# frozen_string_literal: true

require "test_helper"

class SignedRankTest < TunerTest
  SignedRank = PumaTuner::Stats::SignedRank

  # Hollander and Wolfe, "Nonparametric Statistical Methods", table A.4: the chance that the smaller sum is at most
  # this, one side, by number of differences.
  TABLE = {
    5 => {0 => 0.031, 2 => 0.094}, 8 => {3 => 0.020, 5 => 0.039}, 9 => {5 => 0.020},
    10 => {8 => 0.024, 10 => 0.042}, 15 => {25 => 0.024, 30 => 0.047}
  }.freeze

  # Hollander and Wolfe, example 3.1: a depression scale before and after a tranquilizer. Rank sum 40, p = 0.0195 on one
  # side.
  BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30].freeze
  AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29].freeze

  # Differences 1..count, with minus where the ranks sum to just this.
  def with_rank_sum(count, sum)
    left = sum
    count.downto(1).map { |rank| (rank <= left) ? -rank.tap { left -= rank } : rank }
  end

  # Slow and plain: asks all patterns of signs.
  def by_listing(differences)
    sizes = differences.map(&:abs)
    ranks = sizes.map { |size| size.zero? ? 0 : sizes.count { |other| other < size } + (sizes.count(size) + 1) / 2.0 }
    signed = ranks.zip(differences).reject { |rank, _| rank.zero? }
    off = ->(signs) { signed.zip(signs).sum { |(rank, _), sign| sign * rank }.abs }
    found = off.call(signed.map { |_, difference| difference <=> 0 })
    patterns = [1, -1].repeated_permutation(signed.size).to_a
    patterns.count { |signs| off.call(signs) >= found - 1e-9 }.fdiv(patterns.size)
  end

  test "agrees with the tables" do
    found = TABLE.to_h { |count, sums| [count, sums.to_h { |sum, _| [sum, (SignedRank.p_value(with_rank_sum(count, sum)) / 2).round(3)] }] }
    assert_equal TABLE, found
  end

  test "gives the textbook's example its p-value" do
    assert_in_delta 2 * 10 / 512.0, SignedRank.p_value(AFTER.zip(BEFORE).map { |after, before| after - before }), 1e-12
  end

  test "is exact with ties and zeros, too" do
    random = Random.new(1)
    60.times do
      differences = Array.new(random.rand(1..9)) { random.rand(-4..5) }
      assert_in_delta by_listing(differences), SignedRank.p_value(differences), 1e-12, differences.inspect
    end
  end

  test "does not care for direction and unit" do
    differences = [0.3, -1.0, 2.5, 0.0, 0.3, 4.0, 1.5]
    [-1, 1_000].each { |factor| assert_in_delta SignedRank.p_value(differences), SignedRank.p_value(differences.map { |one| one * factor }), 1e-12 }
  end

  test "differences of zero alone give a p-value of 1" do
    assert_equal [1.0, 1.0], [SignedRank.p_value([0, 0.0, 0]), SignedRank.p_value([])]
  end

  test "is exact for sixty, and more" do
    assert_in_delta 2.0**-59, SignedRank.p_value([*1..60]), 1e-30
    assert_in_delta 2.0**-199, SignedRank.p_value([*1..200]), 1e-70
    # Whole numbers of patterns, counted for the interval.
    rank, reached = PumaTuner::Stats::PairedRatio.rank_and_level(60, 0.95)
    assert_in_delta 1 - reached, SignedRank.p_value(with_rank_sum(60, rank - 1)), 1e-12
  end

  test "rejects as often as it says" do
    random = Random.new(2)
    p_values = Array.new(2_000) { SignedRank.p_value(Array.new(8) { random.rand - 0.5 }) }
    # Of 8 differences, the sums 0 to 3 make 10 patterns of 256 on both sides.
    assert_in_delta 2_000 * 10 / 256.0, p_values.count { |p_value| p_value <= 0.05 }, 4 * Math.sqrt(2_000 * 10 / 256.0)
  end
end
