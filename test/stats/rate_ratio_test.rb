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

  test "evidence of more is that of all higher shares alike, by hand, and 1 on average where rates are equal" do
    # (1 - 4^-6) x 4^5 / (6 x 3/4); of one event at equal exposures 3/2, or 1/2.
    {[[0, 5], [3, 1]] => 227.5, [[0, 1], [1, 1]] => 1.5, [[1, 0], [1, 1]] => 0.5, [[0, 0], [2, 1]] => 1.0}.each do |(counts, exposures), evidence|
      assert_in_delta evidence, RateRatio.evidence_of_more(counts, exposures), 1e-9
    end
    mean = (0..12).sum do |count|
      chance = 0.3**count * 0.7**(12 - count) * (1..count).inject(1) { |ways, step| ways * (13 - step) / step }
      chance * RateRatio.evidence_of_more([12 - count, count], [7, 3])
    end
    assert_in_delta 1.0, mean, 1e-9
  end

  # The chance that it holds after any of so many events, of which each is the second one's with this chance: by all ways
  # to get there.
  def ever(events_count, share)
    ways = {0 => 1.0}
    (1..events_count).sum do |total|
      ways = ways.each_with_object(Hash.new(0.0)) do |(count, chance), sums|
        sums[count] += chance * (1 - share)
        sums[count + 1] += chance * share
      end
      ways.keys.select { |count| count > total * share && yield([total - count, count]) }.sum { |count| ways.delete(count) }
    end
  end

  test "evidence holds what it promises however often it is asked for, and a p-value does not" do
    by_p_value = ever(60, 1 / 3.0) { |counts| RateRatio.p_value(counts, [2, 1]) <= 0.01 }
    assert_in_delta 0.024, by_p_value, 0.001
    assert_operator ever(60, 1 / 3.0) { |counts| RateRatio.evidence_of_more(counts, [2, 1]) >= 100 }, :<=, 0.01
  end

  test "zero over something is 0, and something over zero has no upper end" do
    assert_equal 0.0, RateRatio.of([5, 0], [1, 1]).value
    assert_equal Float::INFINITY, RateRatio.of([0, 5], [1, 1]).high
    assert_nil RateRatio.of([0, 0], [1, 1])
    assert_equal 1.0, RateRatio.p_value([0, 0], [1, 1])
  end
end
