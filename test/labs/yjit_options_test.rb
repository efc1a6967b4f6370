# frozen_string_literal: true

require "test_helper"
require "support/tradeoffs"

PumaTuner::Lab.find("yjit_options")

# Lab 03's options, without servers: what is tried, and what is said of the rounds.
class YjitOptionsTest < TunerTest
  YjitOptions = PumaTuner::Labs::YjitOptions

  def lab = YjitOptions.new

  test "every limit goes with every threshold, in both services" do
    names = lab.send(:menu, YjitOptions::Sizes.full).map(&:name)
    assert_equal 2 + 3 + 3 + 9, names.size
    assert_includes names, "YJIT on with 48 MiB after 5 calls"
    assert_equal %w[oauth shop_api], YjitOptions::Sizes.full.services.map(&:name)
    assert_operator lab.expected_s(quick: true), :<, 60
  end

  test "the long form goes on until its intervals are narrow, and the short one does not" do
    assert_equal [0.03, nil], [YjitOptions::Sizes.full, YjitOptions::Sizes.quick].map(&:precision_ratio)
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

  test "what is recommended is said with why, and with how many rounds it took" do
    told = study
    told = told.with(verdict: told.verdict.with(stopped_because: PumaTuner::Statement.of(:precise_rounds, rounds_count: 8, wanted_count: 8, half_width_ratio: 0.03)))
    assert_match(/\AThe oauth service: YJIT on with 16 MiB after 200 calls\. It is not shown to take more CPU than the cheapest \(YJIT on\), .* 8 rounds were run: /, lab.send(:conclusion, "oauth", told))
  end
end
