# frozen_string_literal: true

require "test_helper"

class PermutationTestTest < TunerTest
  Swaps = PumaTuner::Stats::PermutationTest

  def p_value(differences, random: Random.new(1))
    Swaps.p_value(differences.size, random:) { |swapped| differences.zip(swapped).sum { |one, swap| swap ? -one : one }.abs }
  end

  # Of five pairs that all differ alike, 2 of 32 ways reach what was seen.
  test "all ways to swap are tried" do
    assert_in_delta 2.0 / 32, p_value([1.0] * 5), 1e-12
    assert_in_delta 1.0, p_value([0.0] * 5), 1e-12
  end

  # Sums of +-1, +-2 and +-3: 4 of the 8 are 4 or more apart from 0.
  test "agrees with a known distribution" do
    assert_in_delta 4.0 / 8, p_value([-1.0, 2.0, 3.0]), 1e-12
  end

  test "many pairs are swapped at random, and agree with the binomial distribution" do
    exact = (0..4).sum { |count| (1..count).inject(1.0) { |product, place| product * (20 - place + 1) / place } } * 2 / 2**20
    differences = [1.0] * 16 + [-1.0] * 4
    assert_in_delta exact, p_value(differences), 0.01
  end
end
