# frozen_string_literal: true

require "test_helper"

class PairsWantedTest < TunerTest
  PairsWanted = PumaTuner::Stats::PairsWanted

  test "the number grows with the square of the scatter, and the first pairs are the fewest" do
    one, twice, none = [0.05, 0.1, 0.001].map { |sd| PairsWanted.of(sd:, first_count: 8, half_width_ratio: 0.02, level_ratio: 0.95) }
    assert_in_delta (2.3646 * 0.05 / Math.log(1.02))**2, one, 1
    assert_in_delta 4, twice.fdiv(one), 0.1
    assert_equal 8, none
  end

  # Normal log-ratios around 3%: the width is reached, and the truth is left out hardly more often than promised.
  test "intervals of so many pairs are as narrow as wanted, and hold the truth" do
    random = Random.new(7)
    normal = -> { Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand) }
    tries_count = 300
    estimates = Array.new(tries_count) do
      draw = ->(count) { Array.new(count) { Math.exp(Math.log(1.03) + 0.05 * normal.call) } }
      first = draw.call(8)
      sd = PumaTuner::Stats::PairedRatio.sd([1.0] * 8, first)
      all = first + draw.call([PairsWanted.of(sd:, first_count: 8, half_width_ratio: 0.04, level_ratio: 0.95), 60].min - 8)
      PumaTuner::Stats::PairedRatio.of([1.0] * all.size, all)
    end
    assert_operator estimates.count { |one| one.covers?(1.03) }, :>=, tries_count * 0.92
    narrow = estimates.count { |one| Math.sqrt(one.high / one.low) <= 1.04 * 1.015 }
    assert_operator narrow, :>=, tries_count * 0.8
  end

  # Of 10,000, 5.8 in 100; of 1,500, a figure of 6 is known to 0.6.
  test "an interval of 95% leaves the truth out 6 times in 100 at most, as the reference says" do
    random = Random.new(8)
    normal = -> { 0.035 * Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand) }
    left_out_count = (1..1_500).count do
      ratios = Array.new(8) { Math.exp(normal.call) }
      sd = PumaTuner::Stats::PairedRatio.sd([1.0] * 8, ratios)
      count = [PairsWanted.of(sd:, first_count: 8, half_width_ratio: 0.02, level_ratio: 0.95), 60].min
      ratios.concat(Array.new(count - 8) { Math.exp(normal.call) })
      !PumaTuner::Stats::PairedRatio.of([1.0] * count, ratios).covers?(1)
    end
    assert_operator left_out_count.fdiv(1_500), :<=, 0.06 + 2 * 0.006
  end
end
