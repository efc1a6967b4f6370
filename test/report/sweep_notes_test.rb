# frozen_string_literal: true

require "test_helper"
require "support/builders"

class ReportSweepNotesTest < TunerTest
  include Builders

  def notes(**fields) = PumaTuner::Report::SweepNotes.new(sweep(forecast("1x5", 100)).with(**fields))

  test "the what-ifs are named, where there are any" do
    assert_equal "Assumed, and not measured: traffic*2; cpu(GET /)*0.5.", notes(what_if: ["traffic*2", "cpu(GET /)*0.5"]).assumed
    assert_nil notes.assumed
  end

  test "the past error is told by metric, with the number of checks" do
    past_error = {"throughput" => 0.0312, "p50" => 0.004, "p99" => 0.061, "checks_count" => 1}
    assert_equal "Forecasts of this app have missed by about 3% in throughput, 0.4% in p50 and 6% in p99 (1 check); the intervals contain that.",
      notes(past_error:).past_error
    assert_nil notes.past_error
    assert_nil notes(past_error: {"checks_count" => 0}).past_error
  end

  test "remarks are sentences, each once" do
    assert_equal ["Few requests.", "Old version."], notes(remarks: ["Few requests", "Old version."]).below
  end

  test "of two limits without a name of their own both are told" do
    limits = [Unknown.of(:machine, :not_calibrated), Unknown.of(:machine, :other_versions, puma: %w[7.2.0 8.0.2]), Unknown.of(:environment, :development)]
    assert_equal ["not calibrated", "calibrated with Puma 7.2.0", "environment: recorded"], notes(limits:).below.map { |note| note[/\Anot calibrated|\Acalibrated with [^,]*|\A\w+: \w+/] }
  end

  test "an interval is called what it is" do
    assert_equal "Middle and range of 5 simulations of 2,000 requests each", notes.made
    one = forecast("1x5", 100)
    sure = one.with(throughput_per_s: one.throughput_per_s.with(level_ratio: 0.95))
    assert_equal "Middle and 95% interval of 5 simulations of 2,000 requests each", notes(forecasts: [sure]).made
    assert_match(/\AAn interval holds chance.*; it reaches 1% in throughput, 1% in p50 and 1% in p99 to either side \(the median of 1 forecast\)\.\z/, notes(forecasts: [sure]).below.first)
    wide = sure.with(p99_ns: Stats::Estimate.new(value: 100.0, low: 25.0, high: 400.0, level_ratio: 0.95, samples_count: 5))
    assert_match(/and 4\.00 times in p99 to either side/, notes(forecasts: [wide]).below.first)
    endless = sure.with(p99_ns: Stats::Estimate.new(value: 100.0, low: 0.0, high: 400.0, level_ratio: 0.95, samples_count: 2))
    [[endless], [sure, endless], [endless, endless]].each do |forecasts|
      assert_match(/and beyond any bound in p99 to either side/, notes(forecasts:).below.first)
    end
  end

  test "the rule of thumb has a number or none" do
    assert_match(/gives 4 threads\.\z/, notes.rule_of_thumb)
    assert_match(/gives nothing here\.\z/, notes(rule_of_thumb_threads_count: nil).rule_of_thumb)
  end
end
