# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require_relative "../../benchmark/support/prometheus_process"

# What Prometheus itself makes of the queries, of series that are known.
class FleetQueriesTest < TunerTest
  include PumaTuner::Fleet

  # By the minute: two hours are 121 samples.
  ALL = "x120"

  def queries(source, step_s = 3_600, selector: 'service="shop"') = Queries.new(source, Selector.parse(selector), step_s)

  # @param series [Hash{String => String}] names and labels, without the service, to values as promtool has them
  # @param cases [Hash{String => Array<Array(String, Numeric)>}] a query to labels and value of each of its series
  def assert_evaluated(series, cases, at: "2h", interval: "1m")
    skip PrometheusProcess.why_not if PrometheusProcess.why_not
    text = <<~YAML
      evaluation_interval: 1m
      tests:
        - interval: #{interval}
          input_series:
      #{series.map { |name, values| "      - {series: '#{name.sub("{", "{service=\"shop\",")}', values: '#{values}'}" }.join("\n")}
          promql_expr_test:
      #{cases.map { |query, samples| "      - {expr: '#{query}', eval_time: #{at}, exp_samples: [#{samples.map { |labels, value| "{labels: '#{labels}', value: #{value}}" }.join(", ")}]}" }.join("\n")}
    YAML
    Dir.mktmpdir do |folder|
      File.write(path = File.join(folder, "tests.yml"), text)
      output, status = Open3.capture2e(PrometheusProcess.find("promtool"), "test", "rules", path)
      assert status.success?, output
    end
  end

  # Half an hour of one release and half an hour of the next is one hour, not two.
  test "an hour in which a label changed is not counted twice by the rules" do
    names = {"fleet:puma_tuner_process_cpu_seconds:rate5m" => 2, "fleet:puma_tuner_process_pss_bytes:sum" => 300, "fleet:puma_tuner_servers:count" => 4}
    series = names.flat_map { |name, value| [["#{name}{release=\"one\"}", "#{value}x89 stale"], ["#{name}{release=\"two\"}", "_x90 #{value}x90"]] }.to_h
    rules = queries(:rules)
    assert_evaluated(series, {rules.counter(:cpu) => [["{}", 7_200]], rules.level(:memory) => [["{}", 300]], rules.level(:servers) => [["{}", 4]], rules.coverage => [["{}", 12]]})
  end

  test "an endpoint that was first asked for late in a span counts by the rules for the time that it was there" do
    metric = "fleet:puma_tuner_endpoint_request_duration_seconds_bucket:rate5m"
    series = {"#{metric}{endpoint=\"GET /old\",le=\"+Inf\"}" => "2#{ALL}", "#{metric}{endpoint=\"GET /new\",le=\"+Inf\"}" => "_x106 2x14"}
    # From minute 106 on: at the steps of 110, 115 and 120, of 300 s each.
    assert_evaluated(series, {queries(:rules).counter(:endpoint_duration) => [["{endpoint=\"GET /old\",le=\"+Inf\"}", 7_200], ["{endpoint=\"GET /new\",le=\"+Inf\"}", 1_800]]})
  end

  test "a span has what lies in it and no more, whatever its length" do
    series = {"fleet:puma_tuner_process_cpu_seconds:rate5m{}" => "2#{ALL}"}
    [300, 310, 900, 1_000, 3_600].each { |step_s| assert_evaluated(series, {queries(:rules, step_s).counter(:cpu) => [["{}", 2 * step_s]]}, at: "#{7_200 / step_s * step_s}s") }
  end

  test "an hour with a rollout in it is covered whole, and one without any server for a while is not" do
    info = "puma_tuner_exporter_info"
    rollout = {"#{info}{instance=\"one\"}" => "1x80 stale", "#{info}{instance=\"two\"}" => "1x95 stale", "#{info}{instance=\"three\"}" => "_x78 1x42", "#{info}{instance=\"four\"}" => "_x93 1x27"}
    raw = queries(:raw)
    assert_evaluated(rollout, {raw.coverage => [["{}", 12]]})
    assert_evaluated(rollout.reject { |name, _| name.match?(/two|three/) }, {raw.coverage => [["{}", 10]]})
    assert_evaluated(rollout, {raw.samples => [["{}", 43]]})
  end

  test "each span has as many steps, whatever its length" do
    [45, 50, 60, 100, 310, 900, 3_600].each do |step_s|
      count = queries(:raw, step_s).coverage[/:(\d+)s\]/, 1].to_i.then { |seconds| step_s.fdiv(seconds) }
      times = [7_200 / step_s - 1, 7_200 / step_s].map { |spans_count| "#{spans_count * step_s}s" }
      times.each { |at| assert_evaluated({"puma_tuner_exporter_info{}" => "1x480"}, {queries(:raw, step_s).coverage => [["{}", count.to_i]]}, at:, interval: "15s") }
      assert_equal count.to_i, count
    end
  end
end
