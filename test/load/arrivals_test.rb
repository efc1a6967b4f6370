# frozen_string_literal: true

require "test_helper"

class ArrivalsTest < TunerTest
  Arrivals = PumaTuner::Load::Arrivals

  # Poisson counts, by exponential gaps.
  def drawn(random, rate_per_s, duration_s)
    at_s, count = 0.0, -1
    while at_s < duration_s
      at_s -= Math.log(1 - random.rand) / rate_per_s
      count += 1
    end
    count
  end

  test "fewer requests than may be relied on are due about one time in seven hundred" do
    random = Random.new(3)
    least_count = Arrivals.open(50).least_count(4)
    counts = Array.new(5_000) { drawn(random, 50, 4) }
    assert_includes 1..15, counts.count { |count| count < least_count }
    assert_equal 200, Arrivals.open(50, kind: "even").least_count(4)
    assert_equal 0, Arrivals.open(1).least_count(2)
  end

  test "the time that so many take is the one in which no fewer are due" do
    [Arrivals.open(50), Arrivals.open(50, kind: "even")].each do |arrivals|
      duration_s = arrivals.duration_s_of(200)
      assert_includes [199, 200], arrivals.least_count(duration_s)
      assert_operator arrivals.least_count(duration_s - 0.1), :<, 200
    end
  end
end
