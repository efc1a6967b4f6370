# frozen_string_literal: true

require "test_helper"

class RateRatioTest < TunerTest
  RateRatio = PumaTuner::Stats::RateRatio

  # The tails of the binomial distribution, term by term.
  def exact_p_value(counts, exposures)
    total, share = counts.sum, exposures.last.fdiv(exposures.sum)
    log_factorial = ->(count) { Math.lgamma(count + 1).first }
    terms = (0..total).map do |count|
      log_ways = log_factorial.call(total) - log_factorial.call(count) - log_factorial.call(total - count)
      Math.exp(log_ways + count * Math.log(share) + (total - count) * Math.log(1 - share))
    end
    [2 * [terms[0..counts.last].sum, terms[counts.last..].sum].min, 1.0].min
  end

  [[[10, 20], [1, 1]], [[5, 5], [1, 3]], [[0, 7], [2, 1]], [[30, 0], [1, 1]], [[100, 140], [1.0, 1.3]]].each do |counts, exposures|
    test "the test of #{counts.join(" and ")} over #{exposures.join(" and ")} is the binomial's" do
      assert_in_delta exact_p_value(counts, exposures), RateRatio.p_value(counts, exposures), 1e-9
    end
  end

  test "a ratio is of rates, and its interval holds the true one 19 times in 20" do
    random = Random.new(11)
    held = Array.new(400) do
      counts = [[200, 0.3], [100, 0.9]].map { |exposure, rate| (0...exposure * 10).count { random.rand < rate / 10 } }
      RateRatio.of(counts, [200, 100]).covers?(3.0)
    end
    assert_in_delta 0.95, held.count(true) / 400.0, 0.035
  end

  test "zero over something is 0, and something over zero has no upper end" do
    assert_equal 0.0, RateRatio.of([5, 0], [1, 1]).value
    assert_equal Float::INFINITY, RateRatio.of([0, 5], [1, 1]).high
    assert_nil RateRatio.of([0, 0], [1, 1])
    assert_equal 1.0, RateRatio.p_value([0, 0], [1, 1])
  end
end
