# frozen_string_literal: true

require "test_helper"
require "support/trials"

class CellsTest < TunerTest
  def predicted(forecast) = PumaTuner::Prove::Cells.predicted(PumaTuner::Prove::Variant.new(name: "today", forecast:))

  test "a forecast's middles are what was predicted" do
    assert_equal({"throughput" => 100, "p50" => 1, "p99" => 1}, predicted(Trials.forecast(100)))
  end

  test "without a forecast, or with one that there is no steady state, nothing was predicted" do
    assert_empty predicted(nil)
    assert_empty predicted(Trials.forecast(100).with(unsteady: "too much", throughput_per_s: nil, p50_ns: nil, p99_ns: nil))
  end
end
