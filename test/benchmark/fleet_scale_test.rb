# frozen_string_literal: true

require "test_helper"
require "stringio"
require_relative "../../benchmark/fleet_scale"

class FleetScaleTest < TunerTest
  kind :integration

  include FleetScale

  TIMES = (0..20).map { |count| 1_795_000_200 + count * 60 }

  def simulated(**) = SimulatedFleet.new(workers_count: 8, times: TIMES, **)

  # @return [Hash{String => Array<Float>}] series to its values
  def series(recorded: false)
    io = StringIO.new
    count = recorded ? simulated.write_recorded(io) : simulated.write(io)
    lines = io.string.lines(chomp: true)
    assert_equal "# EOF", lines.pop
    assert_equal count, lines.size
    lines.map { |line| line.match(/\A(.*) (\S+) (\d+)\z/).captures }.group_by(&:first).transform_values { |list| list.map { |_, value, _| value.to_f } }
  end

  test "counters never fall, and histograms end with all requests" do
    series.select { |name, _| name.match?(/_total|_bucket|_count/) }.each { |name, values| assert_equal values.sort, values, name }
  end

  test "it writes what is exported, in the exporter's own words" do
    known = PumaTuner::Export::Families.names.flat_map { |family| [family.name, "#{family.name}_bucket", "#{family.name}_count"] }
    assert_empty series.keys.map { |name| name[/\A[^{]+/] }.uniq - known
  end

  test "what rules would have recorded is what they are said to record" do
    recorded = File.read(Trial::RULES).scan(/record: (\S+)/).flatten
    assert_empty series(recorded: true).keys.map { |name| name[/\A[^{]+/] }.uniq - recorded
  end

  test "the truth is that of the distribution" do
    one = [SimulatedFleet::Endpoint.new(name: "GET /", median_s: 0.1, sigma: 0.5, weights: {"a" => 1.0, "b" => 1.0})]
    fleet = simulated(endpoints: one)
    assert_in_delta 0.1, fleet.true_quantile_s("a", 0.5), 1e-6
    assert_in_delta 0.1 * Math.exp(0.5 * 2.326347874), fleet.true_quantile_s("a", 0.99), 1e-5
    assert_in_delta 0.811, fleet.true_quantile_s("b", 0.99) / fleet.true_quantile_s("a", 0.99), 1e-6
  end

  def outcome(source, comparison_s, workers_count: 100)
    Trial::Outcome.new(workers_count:, hours_count: 24, source:, samples_count: 1_000_000, data_bytes: 2_000_000, rules_s: (0.5 if source == "raw"), comparison_s:, cpu_s: 0.1)
  end

  def page(*outcomes) = Page.new(machine: PumaTuner::Probe::MachineFacts.read, trials: outcomes, options: Options.parse([]))

  # Of a fleet that was written for the rules alone.
  def brief(rules_s, workers_count:) = outcome("raw", nil, workers_count:).with(hours_count: nil, rules_s:, cpu_s: nil)

  test "the page judges by the whole fleet, and reckons from the largest in full, and the rules from that of minutes" do
    whole = outcome("rules", 9.0, workers_count: 8_000)
    raw = [outcome("raw", 30.0, workers_count: 50), outcome("raw", 60.0).with(rules_s: 0.9)]
    results = page(*raw, brief(0.6, workers_count: 100), brief(4.4, workers_count: 2_000), whole).results
    assert_match(/2,000 servers \(8,000 workers\) in full would take 1\.0 GiB for 7 days/, results)
    assert_match(/Over 5 min of 500 servers \(2,000 workers\), .* took 4\.40 s; .* from 25 servers \(100 workers\) to there, it is 16\.4 s of 2,000 servers \(8,000 workers\), 4\.00x as many\./, results)
    assert_match(/it takes 1\.50x as long .* so evaluating all rules once would take 24\.6 s of each minute/, results)
    assert_match(/^\| +2,000 \| 5 min \| +raw \|.* 4\.40 s \| +- \| +- \|$/, results)
    assert_match(/24 hours of 2,000 servers \(8,000 workers\) took 9\.00 s; the target is 10 s: met\. Fewer servers would take it as long/, results)
    same = [0.6, 0.7].map { |rules_s| brief(rules_s, workers_count: 100) }
    [[], same].each do |briefs|
      refute_match(/would take .* of each minute/, page(*raw, *briefs, whole).results, "without one of minutes that is larger nobody knows")
    end
    assert_match(/^Made with .+ on \d{4}-\d\d-\d\d: .+\.$/, page(outcome("rules", 9.0)).to_s)
    assert_equal [:missed], page(outcome("rules", 11.0)).outcomes
    assert_equal [:met], page(outcome("raw", 60.0), outcome("rules", 9.0)).outcomes
  end

  test "a page for people to quote needs the whole fleet" do
    assert_raises(OptionParser::InvalidArgument) { Options.parse(%w[--quick --write]) }
    assert Options.parse(%w[--write]).write
  end

  test "a small fleet is simulated, scraped and compared" do
    skip PrometheusProcess.why_not if PrometheusProcess.why_not
    trial = Trial.new(8, 3, source: :rules, services_count: 1, rounds_count: 1).run
    assert_operator trial.samples_count, :>, 30_000
    assert_operator trial.comparison_s, :>, 0
    assert_empty Dir["#{Trial::TMP}/fleet_scale#{Time.now.strftime("%Y%m%d")}-#{Process.pid}-*"]
  end

  test "rules are evaluated over as long as they look back, and a fleet that is not all there is noticed" do
    assert_equal Trial::RULES_S, File.read(Trial::RULES).scan(/\[(\d+)m\]/).flatten.map { |minutes| minutes.to_i * 60 }.max
    skip PrometheusProcess.why_not if PrometheusProcess.why_not
    trial = Trial.new(12, nil, source: :raw, services_count: 1, rounds_count: 1)
    outcome = trial.run
    assert_equal ["5 min", nil, nil], [outcome.served, outcome.comparison_s, outcome.cpu_s]
    assert_operator outcome.rules_s, :>, 0
    fleet = trial.instance_variable_get(:@fleet)
    fleet.define_singleton_method(:workers_count) { 16 }
    assert_match(/the rules saw 3 servers/, assert_raises(RuntimeError) { trial.run }.message)
  end
end
