# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportSummaryTest < TunerTest
  def points(value)
    PumaTuner::Report::Summary.new(PumaTuner::Report::Contents.of(value)).points.to_h { |point| [point.label, point.text] }
  end

  test "a whole tuning says what was found, recommended, predicted, proven and remarked" do
    assert_equal %w[Found Recommended Predicted Proven Remarks], points(TuningFixture.tuning).keys
  end

  test "the largest parts are named with what they mean" do
    assert_includes points(TuningFixture.observation)["Found"], "43.8% queue (in Puma, waiting for a pool thread), 20.0% io"
  end

  test "time in no known part is named, too" do
    assert_includes points(TuningFixture.cluster_observation)["Found"], "residual (in no part that is known)"
  end

  test "the proof says whether the prediction held" do
    assert_includes points(TuningFixture.tuning)["Proven"], "throughput 1.64x (1.60–1.69), better (predicted 1.68x, inside the 96% interval)"
    far = TuningFixture.verdict.then { |verdict| verdict.with(comparisons: verdict.comparisons.map { |comparison| comparison.with(predicted_ratio: 3.0) }) }
    assert_includes points(far)["Proven"], "predicted 3.00x, outside the 96% interval"
  end

  test "no difference shown is not called equivalent" do
    assert_includes points(TuningFixture.tuning)["Proven"], "CPU per request 1.01x (0.99–1.03), no difference shown."
  end

  test "to stay is recommended without a prediction, and the same settings tell the noise" do
    stay = points(TuningFixture.tuning(advice_list: TuningFixture.advice_list(recommended: "1x5"), verdict: TuningFixture.verdict_of_the_same))
    assert_equal "Stay with 1x5 (a single process with 5 threads).", stay["Recommended"]
    refute_includes stay.keys, "Predicted"
    assert_includes stay["Proven"], "today again (1x5) against today (1x5), the same settings, which tells the noise"
  end

  test "a proof that was left out is said of a tuning, and not of a value on its own" do
    assert_equal "Nothing: the proof was left out.", points(TuningFixture.tuning(verdict: nil))["Proven"]
    assert_empty points(TuningFixture.sweep)
  end

  test "a verdict on its own tells of all its variants" do
    other = TuningFixture.cell("2x5", "2x5", 1.9)
    verdict = TuningFixture.verdict.then { |found| found.with(cells: [*found.cells, other], comparisons: found.comparisons + TuningFixture.comparisons("2x5", 1.9)) }
    assert_match(/recommended \(2x3\) against today.*In 6 paired rounds, 2x5 against today/, points(verdict)["Proven"])
  end

  test "a verdict without pairs says so" do
    assert_equal "recommended could not be compared.", points(TuningFixture.verdict.with(comparisons: []))["Proven"]
  end
end
