# frozen_string_literal: true

require "test_helper"

class IncompleteBetaTest < TunerTest
  IncompleteBeta = PumaTuner::Stats::IncompleteBeta

  # Closed form for whole a and b: the chance of at least a successes in a + b - 1 throws (NIST DLMF 8.17.5).
  def by_throws(x, a, b)
    throws = a + b - 1
    (a..throws).sum { |count| (1..throws).to_a.combination(count).size * x**count * (1 - x)**(throws - count) }
  end

  test "equals a binomial tail for whole numbers" do
    [[2, 3], [1, 1], [5, 1], [7, 9], [1, 12]].each do |a, b|
      [0.01, 0.3, 0.5, 0.77, 0.999].each { |x| assert_in_delta by_throws(x, a, b), IncompleteBeta.of(x, a, b), 1e-13, "I_#{x}(#{a}, #{b})" }
    end
  end

  test "equals the arc-sine law for halves" do
    # The arc-sine law: I_x(1/2, 1/2) = 2/pi asin(sqrt x).
    [0.001, 0.2, 0.5, 0.9].each { |x| assert_in_delta 2 / Math::PI * Math.asin(Math.sqrt(x)), IncompleteBeta.of(x, 0.5, 0.5), 1e-13 }
  end

  test "I_x(a, b) and I_1-x(b, a) add up to 1" do
    [[0.2, 3.5, 8], [0.9, 0.5, 200], [0.4999, 5_000, 5_000]].each do |x, a, b|
      assert_in_delta 1, IncompleteBeta.of(x, a, b) + IncompleteBeta.of(1 - x, b, a), 1e-12
    end
  end

  test "ends at 0 and 1" do
    assert_equal [0.0, 1.0], [IncompleteBeta.of(0, 2, 3), IncompleteBeta.of(1, 2, 3)]
  end

  test "says so when it does not converge" do
    assert_raises(PumaTuner::InvariantError) { IncompleteBeta.of(0.5, Float::NAN, 1) }
  end
end
