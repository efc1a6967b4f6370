# frozen_string_literal: true

require "test_helper"
require "support/builders"

class ReportFormulasTest < TunerTest
  include Builders

  def told(forecast) = PumaTuner::Report::Formulas::ALL.to_h { |formula| [formula.word, formula.words(forecast)] }

  test "each formula has its error against the simulation" do
    one = forecast("1x5", 100)
    one = one.with(closed_forms: one.closed_forms.with(bound_per_s: 125.0, mva_per_s: 98.0, flow_equivalent_mean_ns: 45.0 * MS))
    assert_equal({"bound" => "125 +25.0%", "Amdahl" => "100 +0.0%", "MVA" => "98.0 -2.0%", "flow" => "100 +0.0%", "100/CPU" => "100 +0.0%",
                  "flow ms" => "45.0 -10.0%"}, told(one))
  end

  test "a formula without a response has a dash" do
    one = forecast("1x5", 100)
    one = one.with(closed_forms: one.closed_forms.with(amdahl_per_s: nil, flow_equivalent_mean_ns: nil))
    assert_equal ["-", "-"], told(one).values_at("Amdahl", "flow ms")
  end
end
