# frozen_string_literal: true

require "test_helper"

class HolmTest < TunerTest
  Holm = PumaTuner::Stats::Holm

  # R: p.adjust(p, "holm")
  def assert_adjusted(wanted, p_values)
    found = Holm.adjust(p_values.each_with_index.to_h { |p_value, index| [index, p_value] })
    assert_equal wanted, found.values.map { |number| number.round(9) }
  end

  test "agrees with worked examples" do
    assert_adjusted [0.03, 0.06, 0.06, 0.02], [0.01, 0.04, 0.03, 0.005]
    assert_adjusted [0.05, 0.08, 0.09, 0.09, 0.09], [0.01, 0.02, 0.03, 0.04, 0.05]
  end

  test "adjusted p-values end at 1" do
    assert_adjusted [1.0, 1.0], [0.9, 0.6]
  end

  test "leaves one alone, and nothing nothing" do
    assert_adjusted [0.04], [0.04]
    assert_empty Holm.adjust({})
  end

  test "keeps names and order" do
    assert_equal %i[b a], Holm.adjust(b: 0.5, a: 0.01).keys
  end
end
