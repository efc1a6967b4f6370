# frozen_string_literal: true

require "test_helper"

class MinimumDetectableEffectTest < TunerTest
  MinimumDetectableEffect = PumaTuner::Stats::MinimumDetectableEffect
  PairedRatio = PumaTuner::Stats::PairedRatio

  # How often the interval excludes 1 when the change is the one that it is said to show.
  def power(count, level_ratio, random, repeats: 400, sd: 0.03)
    change = MinimumDetectableEffect.of(sd:, pairs_count: count, level_ratio:)
    repeats.times.count do
      variant = Array.new(count) { Math.exp(sd * normal(random)) * (1 + change) }
      !PairedRatio.of([1] * count, variant, level_ratio:).covers?(1)
    end.fdiv(repeats)
  end

  test "is the textbooks' formula with many pairs" do
    # (1.985 + 0.845) standard errors, with 99 degrees of freedom.
    assert_in_delta Math.exp((1.9842 + 0.8453) * 0.05 / 10) - 1, MinimumDetectableEffect.of(sd: 0.05, pairs_count: 100, level_ratio: 0.95), 1e-5
  end

  test "is detected about 8 times in 10" do
    random = Random.new(3)
    [[6, 0.95], [7, 0.9833], [12, 0.95], [20, 0.9833]].each do |count, level_ratio|
      # Three standard deviations of a binomial count around 0.74 to 0.80.
      assert_in_delta 0.77, power(count, level_ratio, random), 0.09, "#{count} pairs at #{level_ratio}"
    end
  end

  test "is unknown where so few pairs show nothing at all" do
    assert_nil MinimumDetectableEffect.of(sd: 0.03, pairs_count: 5, level_ratio: 0.95)
    assert_nil MinimumDetectableEffect.of(sd: 0.03, pairs_count: 6, level_ratio: 0.98)
    assert_nil MinimumDetectableEffect.of(sd: nil, pairs_count: 12, level_ratio: 0.95)
  end

  test "shrinks with pairs, and grows with level and spread" do
    effects = [8, 12, 20, 40, 61, 200].map { |pairs_count| MinimumDetectableEffect.of(sd: 0.03, pairs_count:, level_ratio: 0.95) }
    assert_equal effects.sort.reverse, effects
    assert_operator MinimumDetectableEffect.of(sd: 0.03, pairs_count: 12, level_ratio: 0.99), :>, MinimumDetectableEffect.of(sd: 0.03, pairs_count: 12, level_ratio: 0.95)
    assert_equal 0, MinimumDetectableEffect.of(sd: 0.0, pairs_count: 12, level_ratio: 0.95)
  end

  test "the pairs needed are the fewest that show the effect" do
    [[0.03, 0.03], [0.1, 0.03], [0.001, 0.5]].each do |sd, change_ratio|
      count = MinimumDetectableEffect.pairs_count(sd:, change_ratio:, level_ratio: 0.95)
      assert_operator MinimumDetectableEffect.of(sd:, pairs_count: count, level_ratio: 0.95), :<=, change_ratio
      fewer = MinimumDetectableEffect.of(sd:, pairs_count: count - 1, level_ratio: 0.95)
      assert fewer.nil? || fewer > change_ratio
    end
    assert_nil MinimumDetectableEffect.pairs_count(sd: 0.1, change_ratio: 0.001, level_ratio: 0.95)
  end
end
