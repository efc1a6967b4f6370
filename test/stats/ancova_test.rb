# frozen_string_literal: true

require "test_helper"

class AncovaTest < TunerTest
  Covariate = PumaTuner::Stats::Ancova

  test "the covariate's effect is taken out" do
    a = Covariate.of((1..10).map { |x| [x.to_f, 2.0 * x + 1] })
    b = Covariate.of((5..14).map { |x| [x.to_f, 2.0 * x + 1.5] })
    assert_in_delta 0.5, b.difference(a), 1e-9
  end

  # Cochran's formula, worked out by hand: means 2 and 4 of x, 10 and 13 of y; slope 1 within both.
  test "agrees with a known example" do
    a = Covariate.of([[1.0, 9.0], [2.0, 10.0], [3.0, 11.0]])
    b = Covariate.of([[3.0, 12.0], [4.0, 13.0], [5.0, 14.0]])
    assert_in_delta 1.0, b.difference(a), 1e-12
  end

  test "one that does not vary explains nothing" do
    a = Covariate.of([[1.0, 3.0], [1.0, 5.0]])
    b = Covariate.of([[2.0, 6.0], [2.0, 8.0]])
    assert_in_delta 3.0, b.difference(a), 1e-12
  end

  test "weights are as if points stood there so often" do
    points = [[[1.0, 2.0], [2.0, 4.5]], [[3.0, 5.0], [4.0, 7.5]]]
    weighted = Covariate.weighted(points.map { |some| Covariate.of(some) }, [2, 1])
    assert_equal Covariate.of(points[0] + points[0] + points[1]), weighted
  end

  test "a point of weight two explains and differs as two points do" do
    once, twice = [2.0, 1.0].map { |weight| Covariate.of([[1.0, 2.0], *[[2.0, 4.5, weight]] * (2 / weight).to_i, [4.0, 5.0]]) }
    other = Covariate.of([[2.0, 5.0], [5.0, 9.0]])
    assert_in_delta twice.difference(other), once.difference(other), 1e-12
    assert_in_delta twice.explained(other), once.explained(other), 1e-12
    assert_equal [3, 4.0], [once.count, once.weight]
  end

  test "a single point tells nothing" do
    assert_nil Covariate.of([[1.0, 2.0]]).difference(Covariate.of([[1.0, 2.0], [2.0, 3.0]]))
  end
end
