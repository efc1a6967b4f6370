# frozen_string_literal: true

require "test_helper"
require "support/exporters"
require "support/served_app"
require "socket"

# Real Pumas that export: what is told of a cluster, and that it survives what happens to workers.
class ExporterTest < TunerTest
  time_limit 90

  EXPORTERS = "#{ServedApp::PROJECT}/gemfiles/exporters.gemfile"

  def setup
    flunk "gemfiles/ are not installed; run bin/setup --test" if ServedApp::PUMAS.empty?
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
  end

  def puma_rb(more = "") = "threads 2, 2\nplugin :puma_tuner_exporter\n#{ServedApp::STOPPING}#{more}"

  def environment = {"PUMA_TUNER_EXPORTER" => "tcp://127.0.0.1:#{@port}", "PUMA_TUNER_EXPORTER_LABELS" => "service=shop, yjit=off"}

  def scrape = Net::HTTP.get(URI("http://127.0.0.1:#{@port}/metrics"))

  # @return [Hash{String => Float}] the text, sample by sample
  def metrics
    text = wait_until("a response of the exporter") { scrape rescue nil } # standard:disable Style/RescueModifier
    text.lines.grep_v(/\A#/).to_h { |line| line.split(/ (?=\S+\n\z)/).then { |name, value| [name, Float(value)] } }
  end

  TOTAL = "puma_tuner_request_duration_seconds_count{service=\"shop\",yjit=\"off\"}"

  def total(samples = metrics) = samples.fetch(TOTAL)

  # It looks at most once a second, and at its beginning may have nothing to tell yet.
  def wait_for_total(count) = wait_until("a total of #{count}") { metrics.then { |samples| samples if samples.fetch(TOTAL, 0) >= count } }

  ServedApp::PUMAS.each do |name, gemfile|
    test "a cluster's workers are told of together and each by itself, on #{name}" do
      ServedApp.open(puma_rb: puma_rb) do |app|
        port = app.start("-w", "2", gemfile:, extra: environment)
        ServedApp.request(port, "/work", clients: 4, each: 10)
        samples = wait_for_total(40)
        assert_equal 40, total(samples)
        assert_equal 40, samples.fetch("puma_tuner_endpoint_request_duration_seconds_count{service=\"shop\",yjit=\"off\",endpoint=\"GET /work\"}")
        %w[master 0 1].each { |worker| assert_operator samples.fetch("puma_tuner_process_pss_bytes{service=\"shop\",yjit=\"off\",worker=\"#{worker}\"}"), :>, 5_000_000 }
        assert_equal 2, samples.fetch("puma_tuner_worker_threads{service=\"shop\",yjit=\"off\",worker=\"1\"}")
        assert_operator samples.fetch("puma_tuner_request_time_seconds_total{service=\"shop\",yjit=\"off\",endpoint=\"GET /work\",part=\"sleep\"}"), :>=, 40 * 0.005
      end
    end
  end

  test "a worker that is killed takes nothing along, and the one in its place goes on" do
    ServedApp.open(puma_rb: puma_rb) do |app|
      port = app.start("-w", "2", extra: environment)
      ServedApp.request(port, "/work", clients: 4, each: 5)
      before = wait_for_total(20)
      app.worker_pids.each { |pid| Process.kill(:KILL, pid) }
      2.times { app.wait_for_line(/Worker \d .*booted/) }
      after = metrics
      assert_operator total(after), :>=, 20
      ServedApp.request(port, "/work", clients: 2, each: 5)
      after = wait_for_total(30)
      before.keys.grep(/duration_seconds_(bucket|count)|time_seconds_total\{.*endpoint/).each { |name| assert_operator after.fetch(name), :>=, before[name], name }
    end
  end

  test "it exports in single mode, and at a socket that only its owner may read" do
    Dir.mktmpdir do |folder|
      path = "#{folder}/exporter.sock"
      ServedApp.open(puma_rb: "threads 2, 2\nrequire \"puma_tuner/probe\"\nPumaTuner.export(\"unix://#{path}\", interval_s: 1)\n#{ServedApp::STOPPING}") do |app|
        port = app.start
        ServedApp.request(port, "/work", clients: 1, each: 3)
        wait_until("three requests") { ask(path).include?("puma_tuner_request_duration_seconds_count 3\n") && sleep(1.1).nil? || ask(path).include?("seconds_count 3\n") }
        assert_match(/^puma_tuner_gc_runs_total\{worker="0"\} \d+$/, ask(path))
        refute_match(/worker="master"/, ask(path))
        assert_equal 0o600, File.stat(path).mode & 0o777
        app.stop
        wait_until("the end of the exporter") { !File.exist?(path) }
      end
    end
  end

  test "a pool that hangs is told of while none of its requests ends" do
    rackup = <<~RUBY
      run lambda { |_env|
        sleep 0.05 until File.exist?("free")
        [200, {}, ["fine"]]
      }
    RUBY
    ServedApp.open(rackup:, puma_rb: "threads 2, 2\nrequire \"puma_tuner/probe\"\nPumaTuner.export(\"tcp://127.0.0.1:#{@port}\", interval_s: 1)") do |app|
      port = app.start
      clients = Array.new(2) { Thread.new { Net::HTTP.get(URI("http://127.0.0.1:#{port}/")) } }
      busy = "puma_tuner_worker_busy_threads{worker=\"0\"}"
      samples = wait_until("two busy threads") { metrics.then { |all| all if all[busy] == 2 } }
      assert_equal [2, 0, 0], ["puma_tuner_worker_threads{worker=\"0\"}", "puma_tuner_worker_queued_requests{worker=\"0\"}", "puma_tuner_request_duration_seconds_count"].map { |name| samples.fetch(name) }
      FileUtils.touch(File.join(app.folder, "free"))
      assert_equal ["fine"], clients.map(&:value).uniq
      wait_until("idle threads") { metrics[busy]&.zero? }
    ensure
      clients&.each(&:kill)
      FileUtils.touch(File.join(app.folder, "free"))
    end
  end

  # Of the CPU, as who needs none takes no GVL either. The exporter reads once a second, and answers all the time.
  test "scrapes in quick succession take nothing from the server" do
    ServedApp.open(puma_rb: puma_rb) do |app|
      port = app.start(extra: environment)
      ServedApp.request(port, "/work", clients: 2, each: 5)
      wait_for_total(10)
      pids = [app.master_pid, Exporters.pid_of(app.master_pid)]
      before = pids.map { |pid| PumaTuner::Probe::Processes.cpu_ns(pid) }
      ends_s = monotonic_s + 3
      scrape while monotonic_s < ends_s
      server_ns, exporter_ns = pids.zip(before).map { |pid, ns| PumaTuner::Probe::Processes.cpu_ns(pid) - ns }
      assert_operator server_ns, :<, exporter_ns / 10
    end
  end

  test "after a restart in its place the server exports at the same address, by an exporter of its own" do
    ServedApp.open(puma_rb: puma_rb) do |app|
      port = app.start(extra: environment)
      ServedApp.request(port, "/work", clients: 2, each: 5)
      wait_for_total(10)
      pid = Exporters.pid_of(app.master_pid)
      Process.kill(:USR2, app.master_pid)
      app.wait_for_line(/Restarting/)
      wait_until("another exporter") { Exporters.pid_of(app.master_pid)&.!=(pid) && !PumaTuner::Probe::Processes.alive?(pid) }
      wait_for_total(10) # what the server had counted before
      assert_empty app.stop.grep(/can be exported/)
    end
  end

  test "when a cluster's master is killed, the exporter ends with it" do
    ServedApp.open(puma_rb: puma_rb) do |app|
      app.start("-w", "2", extra: environment)
      metrics
      pid = Exporters.pid_of(app.master_pid)
      Process.kill(:KILL, app.master_pid)
      wait_until("the exporter's end") { !PumaTuner::Probe::Processes.alive?(pid) }
      bound = wait_until("its port to be free") do
        TCPServer.open("127.0.0.1", @port) { |server| server.addr[1] }
      rescue Errno::EADDRINUSE
        nil
      end
      assert_equal @port, bound
    end
  end

  # As the first process of a container is one. Puma waits for all children that are left.
  test "a cluster whose master is the parent of orphans stops as ever, and knows the exporter no more" do
    prctl = RUBY_PLATFORM.start_with?("x86_64") ? 157 : 167
    ServedApp.open(puma_rb: puma_rb("$VERBOSE = nil\nsyscall(#{prctl}, 36, 1) # PR_SET_CHILD_SUBREAPER\n")) do |app|
      app.start("-w", "2", extra: environment)
      metrics
      master = app.master_pid
      assert_includes PumaTuner::Probe::Processes.children_of(master), Exporters.pid_of(master)
      workers = app.worker_pids
      Process.kill(:INT, master)
      app.wait_for_line(/shutting down workers/)
      # One may miss the order, without the probe as well as with it (see ServedApp#stop).
      workers.each { |pid| Process.kill(:KILL, pid) if PumaTuner::Probe::Processes.alive?(pid) }
      wait_until("the end of the server") { !PumaTuner::Probe::Processes.alive?(master) }
      assert(app.stop.none? { |line| line.match?(/puma_tuner|unknown child/) })
    end
  end

  test "the exporter outlives its cluster's workers, also those that fork others" do
    ServedApp.open(puma_rb: puma_rb("preload_app! false\nfork_worker 0\n")) do |app|
      port = app.start("-w", "2", extra: environment)
      ServedApp.request(port, "/work", clients: 4, each: 5)
      wait_for_total(20)
      pid = Exporters.pid_of(app.master_pid)
      Process.kill(:USR1, app.master_pid)
      2.times { app.wait_for_line(/Worker \d .*booted in .*phase: 1/) }
      ServedApp.request(port, "/work", clients: 2, each: 5)
      wait_for_total(30)
      assert_equal pid, Exporters.pid_of(app.master_pid)
      assert(app.stop.none? { |line| line.include?("reaped unknown child") })
    end
  end

  def ask(path)
    UNIXSocket.open(path) do |socket|
      socket.write("GET /metrics HTTP/1.1\r\n\r\n")
      socket.read
    end
  end

  test "variables that can't be keep no server from starting, and one line says so" do
    {{"PUMA_TUNER_EXPORTER_LABELS" => "service=shop,team"} => /nothing is exported: PUMA_TUNER_EXPORTER_LABELS: "team" has no value/,
     {"PUMA_TUNER_EXPORTER_LABELS" => "version=7"} => /nothing is exported: "version" can't be a label/,
     {"PUMA_TUNER_EXPORTER" => "localhost:9394"} => /nothing is exported: "localhost:9394" is not an address/}.each do |wrong, told|
      ServedApp.open(puma_rb: puma_rb) do |app|
        port = app.start(extra: {**environment, **wrong})
        assert_equal [200], ServedApp.request(port, "/", clients: 1, each: 2).uniq
        assert_equal 1, app.printed.grep(/\Apuma_tuner: .*exported/).grep(told).size, app.printed.join("\n")
      end
    end
  end

  test "labels may have any letters, also where no locale is set" do
    ServedApp.open(puma_rb: puma_rb) do |app|
      app.start(extra: {**environment, "PUMA_TUNER_EXPORTER_LABELS" => "team=größe", "LC_ALL" => "C", "LANG" => "C"})
      text = wait_until("a response of the exporter") { scrape rescue nil } # standard:disable Style/RescueModifier
      assert_includes text.dup.force_encoding(Encoding::UTF_8), 'puma_tuner_clock_seconds{team="größe"}'
    end
  end

  test "an address that is taken is told, and the app serves all the same" do
    TCPServer.open("127.0.0.1", @port) do
      ServedApp.open(puma_rb: puma_rb) do |app|
        port = app.start(extra: environment)
        assert_equal [200], ServedApp.request(port, "/", clients: 1, each: 2).uniq
        app.wait_for_line(/puma_tuner: nothing can be exported at tcp.*Address already in use/)
        assert_equal [200], ServedApp.request(port, "/", clients: 1, each: 2).uniq
      end
    end
  end

  test "prometheus-client shows ours among the app's own, from any worker" do
    rackup = <<~RUBY
      require "prometheus/client"
      require "prometheus/middleware/exporter"
      Prometheus::Client.registry.counter(:apps_own_total, docstring: "Theirs.").increment
      PumaTuner::Export::PrometheusClient.register
      use Prometheus::Middleware::Exporter
      #{ServedApp::WORKING_APP}
    RUBY
    ServedApp.open(rackup:, puma_rb: "threads 2, 2\nrequire \"puma_tuner/probe\"\nPumaTuner.export(nil, labels: {service: \"shop\"})") do |app|
      port = app.start("-w", "2", gemfile: EXPORTERS)
      ServedApp.request(port, "/work", clients: 4, each: 5)
      # The exporter begins to answer a moment after the server.
      text = wait_until("twenty requests") { Net::HTTP.get(URI("http://127.0.0.1:#{port}/metrics")).then { |body| body if body[/duration_seconds_count\{service="shop"\} (\d+)/, 1].to_i >= 20 } }
      assert_match(/^apps_own_total 1\.0$/, text)
      assert_match(/^puma_tuner_endpoint_request_duration_seconds_bucket\{service="shop",endpoint="GET \/work",le="\+Inf"\} 20$/, text)
      assert_match(/^puma_tuner_process_pss_bytes\{service="shop",worker="1"\} \d+$/, text)
    end
  end

  # @param body [String] in Ruby, of the response to /otel, once READER has pulled
  # @return [String] config.ru of an app whose own SDK it is
  def answering_otel(body)
    <<~RUBY
      require "opentelemetry/sdk"
      require "opentelemetry-metrics-sdk"
      READER = OpenTelemetry::SDK::Metrics::Export::InMemoryMetricPullExporter.new
      PROVIDER = OpenTelemetry::SDK::Metrics::MeterProvider.new
      PROVIDER.add_metric_reader(READER)
      PumaTuner::Export::OpenTelemetry.register(PROVIDER)
      run lambda { |env|
        next [200, {}, ["fine"]] unless env["PATH_INFO"] == "/otel"
        READER.reset
        READER.pull
        [200, {}, #{body}]
      }
    RUBY
  end

  test "OpenTelemetry's SDK is told absolute numbers, whichever way it counts" do
    rackup = answering_otel(%q([READER.metric_snapshots.map { |one| [one.name, one.unit, *one.data_points.map(&:value)].join(" ") }.join("\n")]))
    ServedApp.open(rackup:, puma_rb: "threads 2, 2\nrequire \"puma_tuner/probe\"") do |app|
      port = app.start(gemfile: EXPORTERS)
      ServedApp.request(port, "/", clients: 1, each: 7)
      # Each question is a request, which the next one is told of; or the one after it, as a client has its response before it is recorded.
      asked_count = 7
      lines = wait_until("the record of every request") do
        told = Net::HTTP.get(URI("http://127.0.0.1:#{port}/otel")).lines(chomp: true)
        asked_count += 1
        told if told.include?("puma_tuner.request.count {request} #{asked_count - 1}") && asked_count > 10
      end
      assert_match(/\Apuma_tuner.request.duration s \d+\.\d+/, lines.grep(/request.duration/).first)
      assert_operator lines.grep(/memory.pss By/).first.split.last.to_i, :>, 5_000_000
    end
  end

  test "OpenTelemetry's SDK with delta temporality is not sent the whole count each time as what is new" do
    rackup = answering_otel(<<~RUBY)
      READER.metric_snapshots.find { |one| one.name == "puma_tuner.request.count" }
        .then { |told| [[told.instrument_kind, told.data_points.last.value].join(" ")] }
    RUBY
    ServedApp.open(rackup:, puma_rb: "threads 2, 2\nrequire \"puma_tuner/probe\"") do |app|
      port = app.start(gemfile: EXPORTERS, extra: {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE" => "delta"})
      ServedApp.request(port, "/", clients: 1, each: 7)
      # Of a count of what is new, the second response would have the questions alone.
      told = Array.new(2) do
        wait_until("seven requests") { Net::HTTP.get(URI("http://127.0.0.1:#{port}/otel")).split.then { |words| words if words.last.to_i >= 7 } }
      end
      assert_equal ["observable_gauge"], told.map(&:first).uniq, "the SDK of gemfiles/ adds up what callbacks tell"
    end
  end

  test "OpenTelemetry's points tell the workers of a preloaded app apart" do
    rackup = <<~RUBY
      require "opentelemetry/sdk"
      require "opentelemetry-metrics-sdk"
      READER = OpenTelemetry::SDK::Metrics::Export::InMemoryMetricPullExporter.new
      PROVIDER = OpenTelemetry::SDK::Metrics::MeterProvider.new(resource: OpenTelemetry::SDK::Resources::Resource.default) # as its configurator has it
      PROVIDER.add_metric_reader(READER)
      run lambda { |_env|
        READER.reset
        READER.pull
        told = READER.metric_snapshots.find { |one| one.name == "puma_tuner.memory.pss" }
        [200, {}, [[told.resource.attribute_enumerator.to_h["process.pid"], *told.data_points.last.attributes.values_at("process.pid", "puma_tuner.worker")].join(" ")]]
      }
    RUBY
    puma_rb = "threads 2, 2\npreload_app!\nrequire \"puma_tuner/probe\"\nbefore_worker_boot { PumaTuner::Export::OpenTelemetry.register(PROVIDER) }"
    ServedApp.open(rackup:, puma_rb:) do |app|
      port = app.start("-w", "2", gemfile: EXPORTERS)
      told = []
      wait_until("a response of each worker") do
        told |= [Net::HTTP.get(URI("http://127.0.0.1:#{port}/")).split]
        told.size >= 2
      end
      assert_equal [app.master_pid.to_s], told.map(&:first).uniq, "the resource is the master's"
      assert_equal app.worker_pids.map(&:to_s).sort, told.map { |words| words[1] }.sort
      assert_equal %w[0 1], told.map(&:last).sort
    end
  end
end
