# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require_relative "../../benchmark/support/prometheus_process"

# The files for Prometheus and Grafana that we ship.
class OpsTest < TunerTest
  FOLDER = File.expand_path("../../ops", __dir__)

  def promtool(*words)
    skip PrometheusProcess.why_not if PrometheusProcess.why_not
    output, status = Open3.capture2e(PrometheusProcess.find("promtool"), *words, chdir: "#{FOLDER}/prometheus")
    assert status.success?, output
    output
  end

  test "rules and alerts are ones that Prometheus takes" do
    assert_match(/SUCCESS: 15 rules found/, promtool("check", "rules", "rules.yml"))
    assert_match(/SUCCESS: 10 rules found/, promtool("check", "rules", "alerts.yml"))
    assert_match(/SUCCESS: 9 rules found/, promtool("check", "rules", "slo.yml"))
  end

  test "rules add up servers and workers, and alerts fire when they should" do
    assert_match(/SUCCESS/, promtool("test", "rules", "tests.yml"))
  end

  test "the goal's limit is a bound that is exported" do
    bounds = File.read("#{FOLDER}/prometheus/slo.yml").scan(/le="([\d.]+)"/).flatten.uniq
    assert_equal ["0.301989888"], bounds
    assert_empty bounds - PumaTuner::Export::Bounds::FINE.names
  end

  test "a goal's windows of days are read of what is added up, and not of each server" do
    read = File.read("#{FOLDER}/prometheus/slo.yml").scan(/(\w[\w:]*)\{[^}]*\}\[\w+\]/).flatten
    assert_equal [12, ["fleet:puma_tuner_request_duration_seconds_bucket:rate5m"]], [read.size, read.uniq]
  end

  def metrics_in(text) = text.scan(/\b(?:fleet:)?puma_tuner_\w+(?::\w+)?/).uniq

  test "dashboard, alerts and rules ask for what is exported or recorded" do
    exported = PumaTuner::Export::Families.names.flat_map { |family| (family.type == "histogram") ? %w[_bucket _sum _count].map { |ending| family.name + ending } : [family.name] }
    rules = %w[rules slo].map { |name| File.read("#{FOLDER}/prometheus/#{name}.yml") }.join
    known = exported + rules.scan(/record: (\S+)/).flatten
    expressions = [*rules.scan(/expr: (.*)/).flatten, File.read("#{FOLDER}/prometheus/alerts.yml").scan(/expr: (?:>\n)?((?:.*\n){1,3}?)(?=\s+for:)/).flatten,
      *JSON.parse(File.read("#{FOLDER}/grafana/puma_tuner.json"))["panels"].flat_map { |panel| panel["targets"].map { |target| target["expr"] } }].join("\n")
    assert_operator metrics_in(expressions).size, :>, 20
    assert_empty metrics_in(expressions) - known
  end

  test "every panel says what it shows, in a unit, at a place of its own" do
    panels = JSON.parse(File.read("#{FOLDER}/grafana/puma_tuner.json"))["panels"]
    panels.each { |panel| refute_empty panel["description"], panel["title"] }
    panels.each { |panel| refute_nil panel.dig("fieldConfig", "defaults", "unit"), panel["title"] }
    assert_equal panels.size, panels.map { |panel| panel["gridPos"].values_at("x", "y") }.uniq.size
  end
end
