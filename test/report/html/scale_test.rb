# frozen_string_literal: true

require "test_helper"

class ReportHtmlScaleTest < TunerTest
  Scale = PumaTuner::Report::Html::Scale

  test "larger numbers stand further along, and all inside" do
    scale = Scale.new([248, 254, 418], 100..700)
    places = [248, 254, 418].map { |number| scale.place(number) }
    assert_equal places.sort, places
    assert_operator places.first, :>, 100
    assert_operator places.last, :<, 700
  end

  test "a single number does not divide by zero" do
    assert_in_delta 400, Scale.new([250, 250], 100..700).place(250), 1
    assert_in_delta 400, Scale.new([0, 0], 100..700).place(0), 1
    assert_in_delta 400, Scale.new([1, 1], 100..700, logarithmic: true).place(1), 1
  end

  test "ticks are round and apart" do
    scale = Scale.new([248, 254, 418], 100..700)
    assert_equal [250, 300, 350, 400], scale.ticks
  end

  test "a logarithmic axis always has a tick at one" do
    [[0.3, 3], [0.99, 1.01], [0.5, 40], [1, 1.7]].each do |numbers|
      scale = Scale.new([*numbers, 1], 100..500, logarithmic: true)
      assert_includes scale.ticks, 1
      assert_equal scale.ticks.sort, scale.ticks
      assert_operator scale.ticks.each_cons(2).map { |one, other| scale.place(other) - scale.place(one) }.min || 99, :>=, 400 * Scale::LEAST_GAP_RATIO
    end
  end

  test "over several decades there are round numbers, apart" do
    {[0.3, 4_000] => [0.3, 1, 3, 10], [12, 700] => [10, 20, 50, 100], [60, 64] => [59, 60, 61, 62], [20, 90] => [20, 30, 50, 70]}.each do |numbers, named|
      scale = Scale.new(numbers, 100..700, logarithmic: true)
      assert_equal named, scale.decades.first(4).map { |number| number.to_f.round(1) }
      assert_operator scale.decades.each_cons(2).map { |one, other| scale.place(other) - scale.place(one) }.min, :>=, 600 * Scale::LEAST_GAP_RATIO
    end
  end

  test "equal ratios are equally far apart on a logarithmic axis" do
    scale = Scale.new([0.5, 1, 2], 100..500, logarithmic: true)
    assert_in_delta scale.place(1) - scale.place(0.5), scale.place(2) - scale.place(1), 0.11
  end
end
