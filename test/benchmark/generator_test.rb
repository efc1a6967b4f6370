# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/generator"
require_relative "../../benchmark/stall"

# What can be said of the generator's benchmarks without measuring.
class GeneratorBenchmarkTest < TunerTest
  include GeneratorBenchmark

  MACHINE = PumaTuner::Probe::MachineFacts.new(cores_count: 2, cpu_model: "A | B", cpu_quota_cores: nil, memory_bytes: 1, kernel: "Linux 6",
    load_average: 0.5, cpu_pressure_ratio: nil)

  # @param ratio [Float] what ours takes, of wrk's; noise: by which every second round of "again" is off
  def cost(ratio:, noise: 0.01, rounds: 10)
    wrk = Array.new(rounds) { |round| 10.0 + round }
    off = ->(values) { values.each_with_index.map { |value, round| value * (1 + (round.even? ? noise : -noise)) } }
    ours = wrk.map { |value| value * ratio }
    Cost::Series.new(key: "puma", title: "Puma", samples: {"ours" => ours, "ours_again" => off.call(ours), "wrk" => wrk, "wrk_again" => off.call(wrk)},
      start_samples: ours.map { |value| value + 2 })
  end

  def lag(*p99s_us, rate_per_s: 2_000)
    outcomes = p99s_us.map do |us|
      PumaTuner::Load::Outcome.new(generator: "puma_tuner 1", connections_count: 200, duration_ns: 5_000_000_000, requests_count: 10_000, throughput_per_s: 2_000.0,
        mean_ns: 300_000, p50_ns: 200_000, p90_ns: 400_000, p99_ns: 900_000, statuses: {"200" => 10_000}, unexpected_count: 0, socket_errors_count: 0,
        lag: PumaTuner::Probe::Histogram.of([us * 1_000]), lag_p99_ns: us * 1_000, connection_wait_count: 0, generator_cpu_ns: 200_000_000, unknown: [])
    end
    Lag::Series.new(rate_per_s:, outcomes:)
  end

  def outcomes(cost: [], lag: []) = Judge.verdicts(cost:, lag:).map(&:outcome)

  test "the cost is met, missed or not shown" do
    assert_equal %i[met met missed], outcomes(cost: [cost(ratio: 0.8), cost(ratio: 1.4), cost(ratio: 1.6)])
    assert_equal %i[not_shown], outcomes(cost: [cost(ratio: 1.6, noise: 0.1)])
  end

  test "the ratio is of pairs, so that a drift does not matter" do
    estimate = Judge.ratio(cost(ratio: 1.2))
    assert_in_delta 1.2, estimate.low
    assert_in_delta 1.2, estimate.high
    assert_operator estimate.level_ratio, :>=, 0.95
  end

  test "the lag is judged at the rate that was promised" do
    assert_equal %i[met], outcomes(lag: [lag(*[5_000] * 8, rate_per_s: 5_000), lag(300, 500, 200, 900, 400, 300, 350, 250)])
    assert_equal %i[missed], outcomes(lag: [lag(1_500, 1_800, 1_200, 1_300, 1_400, 2_000, 1_900, 1_100)])
    assert_equal %i[not_shown], outcomes(lag: [lag(500, 1_800, 400, 1_300, 1_400, 700, 1_900, 300)])
  end

  test "the page holds its tables, aligned, and the outcome" do
    made = {cost: [cost(ratio: 0.8)], lag: [lag(*[300] * 8)]}
    page = Page.new(machine: MACHINE, **made, verdicts: Judge.verdicts(**made), tools: "puma_tuner 1, wrk 4", at: Time.utc(2026, 11, 21)).to_s
    assert_match(/^\| puma_tuner +\| +11\.6 \| +8\.0 \| +15\.2 \| 0\.80 \(0\.80 to 0\.80\) \| +10 \|$/, page)
    assert_match(/^\| +2000 \| +\S+ \(\S+ to \S+\)/, page)
    assert_match(/at most 1\.5 times wrk's \| +0\.80 x \|.*\| +met \|$/, page)
    assert_match(/^Made with .+ on 2026-11-21: .+; load average before the run 0\.5\.$/, page)
    page.split("\n\n").select { |part| part.start_with?("|") }.each { |table| assert_equal 1, table.lines(chomp: true).map(&:length).uniq.size, table }
  end

  test "a page is written whole or not at all" do
    ["--write --quick", "--write --only lag"].each { |words| assert_raises(OptionParser::ParseError) { Options.parse(words.split) } }
    assert Options.parse(%w[--write --rounds 3]).write
    ["--rounds 0", "--only siege", "more"].each { |words| assert_raises(OptionParser::ParseError) { Options.parse(words.split) } }
  end

  def trial(p50: 2_500_000, p90: 400_000_000, p99: 940_000_000, requests_count: 1_200)
    StallBenchmark::Trial.new(name: "tool 1", load: "even arrivals", at_rate: true, percentiles_ns: {"p50" => p50, "p90" => p90, "p99" => p99}, requests_count:, late_ns: 50_000)
  end

  test "a generator that was asked about the stall is told what is wrong with its response" do
    assert_predicate trial, :right?
    assert_equal ["p90, p99 wrong", "180 requests missing"], trial(p90: 15_000_000, p99: nil, requests_count: 1_020).faults
    assert_equal ["100 requests too many"], trial(requests_count: 1_300).faults
    assert_equal ["knows no rate"], trial(requests_count: 40_000).with(at_rate: false).faults
    page = StallBenchmark::Page.new(machine: MACHINE, trials: [trial, trial(p90: 15_000_000)], at: Time.utc(2026, 11, 21)).to_s
    assert_match(/^\| the truth \| even arrivals, 200\/s \| +\| +2\.50 \| +400\.00 \| +940\.00 \| +1200 \|/, page)
    assert_match(/^Made with .+ on 2026-11-21: .+\.$/, page)
    assert_match(/^\| tool 1 +\| even arrivals +\| p90 wrong +\| +2\.50 \| +15\.00 \|/, page)
  end
end
