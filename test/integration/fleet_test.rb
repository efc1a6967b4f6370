# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"
require "json"
require_relative "../../benchmark/support/prometheus_process"
require_relative "../../benchmark/fleet_scale/trial"

# A real Prometheus that scrapes real Pumas; and one whose past was written, with the truth known.
class FleetTest < TunerTest
  include CommandLine

  time_limit 120

  def setup
    skip PrometheusProcess.why_not if PrometheusProcess.why_not
  end

  # One request in ten is slow, so that p99 lies well inside the slow ones.
  APP = <<~RUBY
    COUNT = [0]
    run lambda { |_env|
      sleep((COUNT[0] += 1) % 10 == 0 ? 0.11 * SLOWER : 0.01)
      [200, {}, ["fine"]]
    }
  RUBY

  PUMA_RB = "threads 3, 3\nplugin :puma_tuner_exporter\n"

  SCRAPE_S = 1
  STEP_S = 3
  SPANS_COUNT = 3

  def free_port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }

  def config(*ports) = "global: {scrape_interval: #{SCRAPE_S}s}\nscrape_configs: [{job_name: puma, static_configs: [{targets: [#{ports.map { |port| "'127.0.0.1:#{port}'" }.join(", ")}]}]}]\n"

  # @return [Probe::Histogram] of the server's own ledgers: all durations, exactly as recorded
  def recorded(app)
    master = app.master_pid
    directory = Dir[File.join(PumaTuner::Host::ScratchFolder.path, "puma_tuner-#{Process.euid}", "#{master}-*")].first
    sums = PumaTuner::Probe::Ledger.sum(PumaTuner::Probe::Ledgers.new(directory).read.values)
    sums.values.select { |entry| entry.kind == :request }.map { |entry| entry.histograms.first }.reduce(:+)
  end

  def memory_bytes(app) = [app.master_pid, *app.worker_pids].sum { |pid| PumaTuner::Probe::Processes.memory(pid)[:pss_bytes] }

  # Requests at a steady rate, until the block is true.
  def steadily(*ports)
    threads = ports.flat_map { |port| Array.new(2) { Thread.new { Net::HTTP.start("127.0.0.1", port) { |http| http.get("/") until @enough } } } }
    yield
  ensure
    @enough = true
    threads&.each(&:join)
  end

  def fleet(url, *words) = puma_tuner("fleet", "--url", url, *words, "--output", "-").then { |result| result.code.zero? ? JSON.parse(result.out) : flunk(result.err) }

  def row(document, name) = document["rows"].find { |row| row["name"] == name }

  test "figures of real Pumas are those of their own ledgers, within the histograms' error" do
    exporters = Array.new(2) { free_port }
    servers = {1.0 => ["-w", "2"], 1.5 => ["-w", "0"]}.zip(exporters, %w[off on]).map do |(slower, options), exporter, group|
      app = ServedApp.new(rackup: APP.sub("SLOWER", slower.to_s), puma_rb: PUMA_RB)
      [app, app.start(*options, extra: {"PUMA_TUNER_EXPORTER" => "tcp://127.0.0.1:#{exporter}", "PUMA_TUNER_EXPORTER_LABELS" => "yjit=#{group}"})]
    end
    Dir.mktmpdir do |folder|
      PrometheusProcess.open(folder, config: config(*exporters)) do |prometheus|
        seen = nil
        ends_s = steadily(*servers.map(&:last)) do
          # Until there are as many whole spans as are asked for, each with a scrape before it.
          seen = Array.new(STEP_S * (SPANS_COUNT + 1) + 2 * SCRAPE_S) { sleep(1) && servers.map { |app, _| Seen.new(Time.now.to_f, recorded(app), memory_bytes(app)) } }.transpose
          Time.now.to_i / STEP_S * STEP_S
        end
        document = fleet(prometheus.url, "--a", '{yjit="off"}', "--b", '{yjit="on"}', "--window", "#{STEP_S * SPANS_COUNT}s", "--step", "#{STEP_S}s", "--a-end", ends_s.to_s, "--b-end", ends_s.to_s)
        %w[a b].zip(seen) { |group, of_server| assert_true_to(of_server, ends_s, document, group) }
        assert_equal [1, 2], [document["a"]["servers_count"], document["a"]["workers_count"]]
        assert_includes document["unknown"].map { |unknown| unknown.values_at("field", "cause") }, %w[intervals few_blocks]
        assert_dashboard(prometheus)
      end
    end
  ensure
    servers&.each { |app, _| app.close }
  end

  # A server at an instant: its ledgers' durations so far, and its memory.
  Seen = Data.define(:at_s, :latency, :memory_bytes)

  def assert_true_to(seen, ends_s, document, group)
    before, after = [ends_s - STEP_S * SPANS_COUNT, ends_s].map { |at_s| seen.min_by { |one| (one.at_s - at_s).abs } }
    memory = seen.select { |one| one.at_s.between?(before.at_s, after.at_s) }.map(&:memory_bytes)
    %w[p50 p99].each do |name|
      exact_ns = (after.latency - before.latency).quantile_ns(name.delete("p").to_f / 100)
      told_ns = row(document, name)[group]
      # The same window but for a second at its ends, in which the app does the same.
      error_ratio = row(document, name)["error_ratio"] * 2 + PumaTuner::Probe::Histogram::RELATIVE_ERROR
      assert_in_delta exact_ns, told_ns, exact_ns * error_ratio, "#{name} of #{group}"
    end
    # The exporter looks at memory every ten seconds, and it moves meanwhile.
    told = row(document, "memory")[group]
    assert told.between?(memory.min * 0.95, memory.max * 1.05), "memory of #{group}: #{told}, seen were #{memory.minmax}"
  end

  # Each of its queries is one that Prometheus understands.
  def assert_dashboard(prometheus)
    dashboard = JSON.parse(File.read(File.expand_path("../../ops/grafana/puma_tuner.json", __dir__)))
    queries = dashboard["panels"].flat_map { |panel| panel["targets"].map { |target| target["expr"].gsub("$job", ".+") } }
    assert_operator queries.size, :>, 10
    client = PumaTuner::Fleet::Prometheus.new(prometheus.url)
    queries.each { |query| assert_kind_of Array, client.instant(query, Time.now.to_i), query }
  end

  # Two groups whose past is written, with the truth known, up to the last full hour.
  #
  # @yieldparam simulated [FleetScale::SimulatedFleet]
  # @yieldparam url [String] of a Prometheus
  # @yieldparam words [Array<String>] for the command
  def with_simulated(hours:, step_s:, window:, rules: false, block_s: FleetScale::Backfill::BLOCK_S)
    now_s = Time.now.to_i / 3_600 * 3_600
    times = (0..hours * 3_600 / step_s).map { |count| now_s - hours * 3_600 + count * step_s }
    simulated = FleetScale::SimulatedFleet.new(workers_count: 4, workers_per_server: 2, times:, endpoints: FleetScale::SimulatedFleet.endpoints(3, mix_b: 1.5))
    Dir.mktmpdir do |folder|
      backfill = FleetScale::Backfill.new(File.join(folder, "data"), folder, block_s:)
      backfill.in_blocks(times) { |only, io| simulated.write(io, only:) }
      PrometheusProcess.open(folder) { |prometheus| backfill.rules(File.expand_path("../../ops/prometheus/rules.yml", __dir__), url: prometheus.url, begins_s: times.first, ends_s: times.last) } if rules
      PrometheusProcess.open(folder) do |prometheus|
        yield simulated, prometheus.url, ["--a", '{yjit="off"}', "--b", '{yjit="on"}', "--window", window, "--a-end", now_s.to_s, "--b-end", now_s.to_s]
      end
    end
  end

  test "six hours of equal groups give the true figures, and show no difference" do
    with_simulated(hours: 7, step_s: 60, window: "6h", rules: true) do |simulated, url, words|
      %w[raw auto].zip(%w[raw rules]) do |asked, used|
        document = fleet(url, *words, "--source", asked)
        assert_equal used, document["source"]
        assert_simulated(simulated, document)
        assert_equal [["not_shown", "short_blocks"]], %w[p99 memory].map { |name| row(document, name).values_at("outcome", "reason") }.uniq
        assert_operator document["services"].first["code_limit_ratio"], :>, 0.85
      end
      result = puma_tuner("fleet", "--url", url, *words)
      assert_match(/^  p99 +98\.\d ms +77\.\d ms +-2\d% +0\.\d+x/, result.out)
      assert_match(/9\.5% of the requests would have to go to other endpoints to make the mixes equal \(too few days/, result.unwrapped)
    end
  end

  test "six days of different groups show the true difference" do
    with_simulated(hours: 6 * 24 + 1, step_s: 600, window: "6d", block_s: FleetScale::Backfill::LONG_BLOCK_S) do |simulated, url, words|
      document = fleet(url, *words, "--source", "raw")
      assert_simulated(simulated, document)
      assert_equal [["better", nil], ["worse", nil]], %w[p99 memory].map { |name| row(document, name).values_at("outcome", "reason") }
      assert document["mix"]["shifted"]
      # b is 0.811 times a, but for its mix.
      assert_in_delta 0.811, document["mix"]["p99_at_a_mix"]["value"], 0.02
      assert_match(/The groups got different requests: 9\.5%/, puma_tuner("fleet", "--url", url, *words).unwrapped)
    end
  end

  def assert_simulated(simulated, document)
    %w[a b].each do |group|
      {"p50" => 0.5, "p99" => 0.99}.each do |name, ratio|
        exact_ns = simulated.true_quantile_s(group, ratio) * 1e9
        assert_in_delta exact_ns, row(document, name)[group], exact_ns * row(document, name)["error_ratio"], "#{name} of #{group}"
      end
      assert_in_delta simulated.true_memory_bytes(group), row(document, "memory")[group], simulated.true_memory_bytes(group) * 0.001
    end
  end

  # As Prometheus' operator labels what it scrapes.
  test "where a target has a label endpoint of its own, ours is missed, and what brings it back is said" do
    text = %w[off on].map do |group|
      <<~TEXT
        puma_tuner_exporter_info{yjit="#{group}",schema="1",complete="true"} 1
        puma_tuner_request_duration_seconds_count{yjit="#{group}"} 1
        puma_tuner_endpoint_request_duration_seconds_bucket{yjit="#{group}",endpoint="GET /",le="+Inf"} 1
      TEXT
    end
    TCPServer.open("127.0.0.1", 0) do |listener|
      http = PumaTuner::Export::HttpServer.new(listener, Struct.new(:text).new(text.join))
      thread = Thread.new { loop { http.serve } }
      labelled = config(listener.addr[1]).sub("']}]}]", "'], labels: {endpoint: metrics}}]}]")
      Dir.mktmpdir do |folder|
        PrometheusProcess.open(folder, config: labelled) do |prometheus|
          wait_until("a scrape") { PumaTuner::Fleet::Prometheus.new(prometheus.url).instant("puma_tuner_exporter_info", Time.now.to_i).any? }
          ends = ["--a-end", "--b-end"].flat_map { |option| [option, (Time.now.to_i + 10).to_s] }
          told = puma_tuner("fleet", "--url", prometheus.url, "--a", '{yjit="off"}', "--b", '{yjit="on"}', "--window", "60s", "--step", "5s", *ends)
          assert_failed(/--a \{yjit="off"\}: the label endpoint names the scraped port.*honorLabels: true/, told)
        end
      end
    ensure
      thread&.kill&.join
    end
  end

  test "nobody there, and nothing there, are told apart" do
    told = puma_tuner("fleet", "--url", "http://127.0.0.1:#{refusing_port}", "--a", '{a="b"}', "--b", '{a="c"}')
    assert_failed(/cannot connect to .*Start Prometheus/, told)
    Dir.mktmpdir do |folder|
      PrometheusProcess.open(folder) { |prometheus| assert_failed(/has no metric puma_tuner_exporter_info/, puma_tuner("fleet", "--url", prometheus.url, "--a", '{a="b"}', "--b", '{a="c"}')) }
    end
  end
end
