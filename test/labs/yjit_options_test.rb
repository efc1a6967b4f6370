# frozen_string_literal: true

require "test_helper"
require "support/tradeoffs"

PumaTuner::Lab.find("yjit_options")

# Lab 03's options, without servers: what is tried, and what is said of the rounds.
class YjitOptionsTest < TunerTest
  YjitOptions = PumaTuner::Labs::YjitOptions

  def lab = YjitOptions.new

  test "every limit goes with every threshold, in both services" do
    full = YjitOptions::Sizes.full
    names = full.services.to_h { |service| [service.name, lab.send(:menu, service, full).map(&:name)] }
    assert_equal({"oauth" => 2 + 1 + 2 + 2, "shop_api" => 2 + 1 + 2 + 2}, names.transform_values(&:size))
    names.each_value { |all| assert_operator PumaTuner::Prove::Looks.fixed(1).least_rounds_count(all.size - 1), :<=, full.rounds_count }
    assert_includes names["shop_api"], "YJIT on with 32 MiB after 5 calls"
    assert_operator lab.expected_s(quick: true), :<, 60
  end

  test "the long form says whether its intervals were narrow enough to recommend a setting, and the short one recommends nothing" do
    assert_equal [0.03, nil], [YjitOptions::Sizes.full, YjitOptions::Sizes.quick].map(&:precision_ratio)
    assert_match(/All intervals of CPU and memory are within ±10\.0% after 8 rounds\./, lab.send(:conclusion, "oauth", study, 0.1))
    assert_match(/Wanted were intervals of ±0\.0%, which 8 rounds have not reached: the widest is ±\d/, lab.send(:conclusion, "oauth", study, 0.0001))
    refute_match(/intervals/, lab.send(:conclusion, "oauth", study).split("cheapest").last)
  end

  # CPU in µs, memory in MiB, by setting.
  def study = Tradeoffs.study({"YJIT off" => [1_000, 100], "YJIT on" => [700, 140], "YJIT on with 16 MiB after 200 calls" => [705, 118], "YJIT on after 5 calls" => [900, 160]})

  test "a study is told from the least memory to the most, with what to take" do
    table = lab.send(:table, "oauth", study)
    assert_equal ["YJIT off", "YJIT on with 16 MiB after 200 calls", "YJIT on", "YJIT on after 5 calls"], table.rows.map(&:first)
    assert_equal ["Pareto front", "recommended", "Pareto front", "dominated"], table.rows.map(&:last)
    assert_match(/95% intervals of 8 rounds/, table.notes.first)
    assert_match(/the range of 2 rounds/, lab.send(:table, "oauth", Tradeoffs.study({"YJIT off" => [1_000, 100], "YJIT on" => [700, 140]}, rounds_count: 2)).notes.first)
  end

  test "what is recommended is said with why" do
    assert_match(/\AThe oauth service: YJIT on with 16 MiB after 200 calls\. It is not shown to take more CPU than the cheapest \(YJIT on\) by more than 2%, /, lab.send(:conclusion, "oauth", study))
  end
end
