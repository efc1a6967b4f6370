# frozen_string_literal: true

require "test_helper"

class QuantileTest < TunerTest
  Quantile = PumaTuner::Stats::Quantile

  test "takes a sample's own values where a quantile falls on one" do
    assert_equal [1, 2, 3, 4, 5], [0, 0.25, 0.5, 0.75, 1].map { |ratio| Quantile.of([1, 2, 3, 4, 5], ratio) }
  end

  test "goes in a straight line between two values" do
    # R: quantile(c(10, 20, 40, 80), c(.1, .5, .9), type = 7)
    assert_equal [13.0, 30.0, 68.0], [0.1, 0.5, 0.9].map { |ratio| Quantile.of([10, 20, 40, 80], ratio).round(9) }
  end

  test "has one value's value at every ratio" do
    assert_equal [7, 7, 7], [0, 0.5, 1].map { |ratio| Quantile.of([7], ratio) }
  end

  test "is unknown without samples" do
    assert_nil Quantile.of([], 0.5)
  end
end
