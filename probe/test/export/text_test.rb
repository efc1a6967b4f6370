# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/durations"
require_relative "../../../benchmark/support/prometheus_process"

class ExportTextTest < TunerTest
  include PumaTuner::Export

  def family(name = "puma_tuner_things_total", type = "counter", samples = {{} => 1}, help: "Things.") = Family.new(name:, type:, help:, samples:)

  test "a metric is its help, its type and its samples" do
    assert_equal <<~TEXT, Text.of([family.with(samples: {{} => 3})])
      # HELP puma_tuner_things_total Things.
      # TYPE puma_tuner_things_total counter
      puma_tuner_things_total 3
    TEXT
    assert_includes Text.of([family.with(samples: {{worker: "0"} => 1.5})], {service: "shop"}), "\npuma_tuner_things_total{service=\"shop\",worker=\"0\"} 1.5\n"
  end

  test "an unknown figure is left out" do
    assert_empty Text.of([family.with(samples: {})])
  end

  test "names from the app can't break out of their quotes" do
    line = Text.of([family.with(samples: {{endpoint: "GET /a\"} 1\nevil{b=\"\\"} => 1})]).lines.last
    assert_equal "puma_tuner_things_total{endpoint=\"GET /a\\\"} 1\\nevil{b=\\\"\\\\\"} 1\n", line
  end

  test "a histogram has its buckets, sum and count" do
    histogram = Durations.in_buckets([300_000, 10_000_000], Bounds::COARSE)
    text = Text.of([family("puma_tuner_x_seconds", "histogram").with(samples: {{job: "a"} => histogram})])
    assert_includes text, "puma_tuner_x_seconds_bucket{job=\"a\",le=\"0.000262144\"} 0\n"
    assert_includes text, "puma_tuner_x_seconds_bucket{job=\"a\",le=\"0.000393216\"} 1\n"
    assert_includes text, <<~TEXT
      puma_tuner_x_seconds_bucket{job="a",le="+Inf"} 2
      puma_tuner_x_seconds_sum{job="a"} 0.0103
      puma_tuner_x_seconds_count{job="a"} 2
    TEXT
  end

  test "names and help are what Prometheus' own linter wants" do
    skip PrometheusProcess.why_not if PrometheusProcess.why_not
    histogram = Durations.in_buckets([300_000], Bounds::COARSE)
    families = Families.names.map { |family| family.with(samples: {{endpoint: "GET /"} => (family.type == "histogram") ? histogram : 1}) }
    assert_operator families.size, :>, 20
    output, status = Open3.capture2e(PrometheusProcess.find("promtool"), "check", "metrics", stdin_data: Text.of(families))
    assert status.success?, output
    assert_empty output
  end
end
