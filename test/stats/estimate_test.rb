# frozen_string_literal: true

require "test_helper"

class EstimateTest < TunerTest
  include PumaTuner

  # Simulations scatter by 3%, the model is wrong by so many times that, and one more run of
  # what it stands for is what was to be predicted.
  #
  # @return [Float] how often its interval holds that
  def coverage_ratio(runs_count, error_ratio, trials_count: 1_000, random: Random.new(11))
    held = trials_count.times.count do
      off = normal(random) * error_ratio
      runs = Array.new(runs_count) { Math.exp(normal(random) * 0.03) }
      Stats::Estimate.of_prediction(runs, error_ratio:).covers?(Math.exp(off + normal(random) * 0.03))
    end
    held.fdiv(trials_count)
  end

  test "the interval of a prediction holds what it promises, whichever of scatter and the model's error is larger" do
    [5, 10].product([0.0, 0.01, 0.03, 0.3]).each do |runs_count, error_ratio|
      assert_includes 0.93..0.97, coverage_ratio(runs_count, error_ratio), "#{runs_count} runs, model wrong by #{error_ratio}"
    end
  end

  test "an interval of few runs covers at least as much as it says" do
    [2, 3].product([0.0, 0.01, 0.03, 0.3]).each do |runs_count, error_ratio|
      assert_includes 0.93..0.995, coverage_ratio(runs_count, error_ratio), "#{runs_count} runs"
    end
  end

  test "an interval around next to nothing ends at zero, and is finite" do
    none = Stats::Estimate.of_prediction([0, 0, 0], error_ratio: 0.5)
    assert_equal [0, 0, 0], [none.value, none.low, none.high]
    hardly = Stats::Estimate.of_prediction([0.0, 1.0e-9, 30.0], error_ratio: 0.5, level_ratio: 0.99)
    assert_in_delta 10, hardly.value, 1e-6
    assert_equal 0, hardly.low
    assert_includes 100..1_000, hardly.high
  end

  test "two runs far apart have an interval that ends at zero, and above at numbers that mean something" do
    apart = Stats::Estimate.of_prediction([1.0e8, 9.0e8])
    assert_equal [5.0e8, 0], [apart.value, apart.low]
    assert_includes 5.0e9..1.0e10, apart.high # 12.7 of Student's t with one degree, times sd x sqrt(1 + 1/2)
  end

  test "a model that is more wrong never has a narrower interval, however its runs scatter" do
    random = Random.new(5)
    300.times do
      runs = Array.new(random.rand(2..6)) { Math.exp(normal(random) * random.rand(0.01..2.0)) }
      runs[0] = 0.0 if random.rand < 0.1
      intervals = [0.0, 0.1, 0.5, 1.0, 2.0, 2.3, 2.4, 3.0, 5.0, 9.0].map { |error_ratio| Stats::Estimate.of_prediction(runs, error_ratio:) }
      intervals.each_cons(2) do |less, more|
        assert_equal less.value, more.value
        assert_operator more.low, :<=, less.low, runs.inspect
        assert_operator more.high, :>=, less.high, runs.inspect
      end
      last = intervals.last
      assert_operator last.high, :>=, last.value * Math.exp(1.95 * 9), "what is off by a factor is so at each scale"
    end
  end

  test "the reach is what it may be off to either side" do
    assert_in_delta 0.08, Stats::Estimate.new(value: 100.0, low: 100 / 1.08, high: 108.0, level_ratio: 0.95, samples_count: 5).reach_ratio
    assert_predicate Stats::Estimate.new(value: 1.0, low: 0.0, high: 2.0, level_ratio: 0.95, samples_count: 5).reach_ratio, :infinite?
  end
end
