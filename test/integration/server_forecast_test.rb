# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "json"

# A server whose app's bundle knows no PumaTuner: its lines come to recommend what the command recommends of the same
# recording, and nothing of ours stays when it ends.
class ServerForecastIntegrationTest < TunerTest
  time_limit 200

  Probe = PumaTuner::Probe

  # The server's own recording and folder, so that both can be asked the same.
  RACKUP = <<~RUBY
    run lambda { |env|
      case env["PATH_INFO"]
      when "/recording" then next [200, {}, [PumaTuner::Document.dump(PumaTuner.snapshot)]]
      when "/folder" then next [200, {}, [PumaTuner::Probe.recording.ledgers.directory]]
      when "/gems" then next [200, {}, [$LOADED_FEATURES.grep(%r{/lib/puma_tuner}).grep_v(%r{/probe/lib/}).join(",")]]
      end
      20_000.times { |i| i.to_s } && sleep(0.005)
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  # @param workers_count [Integer]
  def puma_rb(workers_count)
    <<~RUBY
      threads 4, 4
      workers #{workers_count}
      silence_single_worker_warning
      require "puma_tuner/probe"
      PumaTuner::Probe::Forecasting.send(:remove_const, :PAUSES_S)
      PumaTuner::Probe::Forecasting::PAUSES_S = 1..2
      PumaTuner.run(interval_s: 0.5)
      #{ServedApp::STOPPING}
    RUBY
  end

  def get(port, path) = Net::HTTP.get(URI("http://127.0.0.1:#{port}#{path}"))

  # Each interval needs a request to have lines.
  def lines_with_forecast(app, port)
    wait_until("a forecast", limit_s: 90) do
      get(port, "/work")
      app.printed.find { |line| line.start_with?("  by a forecast") }
    end
  end

  test "a single process comes to tell a forecast, the same that the command makes of its recording" do
    ServedApp.open(rackup: RACKUP, puma_rb: puma_rb(0)) do |app|
      port = app.start
      ServedApp.request(port, "/work", clients: 4, each: 60)
      app.wait_for_line(/\A  by the rule of thumb, 100 \/ CPU %; /)
      lines_with_forecast(app, port)
      directory = get(port, "/folder")
      recording = PumaTuner::Document.parse(get(port, "/recording"), "recording", [:observation])
      recommendation = PumaTuner::ServerForecast.new(leader_pid: app.master_pid, leader: "", directory:).recommendation { recording }
      assert_equal advised(recording), recommendation.topology
      assert_equal "1x4", recommendation.today
      assert_equal "", get(port, "/gems"), "the app's process has loaded nothing but the probe"
      title = "puma_tuner forecast of #{app.master_pid}"
      app.stop
      wait_until("the end of all that forecasts") { Probe::Processes.ids.none? { |pid| Probe::Processes.command_line(pid) == title } }
    end
  end

  # @return [String] what `advise` recommends, by as many simulations
  def advised(recording)
    workload = PumaTuner::Model::WorkloadFit.workload(recording)
    machine = PumaTuner::Model::MachineFit.machine(recording, calibrated: PumaTuner::Calibrate::Lookup.new.call(recording)&.machine)
    sweeper = PumaTuner::Predict::Sweeper.new(workload:, machine:, seed: 1, seeds_count: PumaTuner::ServerForecast::SEEDS_COUNT,
      requests_count: PumaTuner::ServerForecast::REQUESTS_COUNT)
    usual = PumaTuner::CLI::Options::Grid.workers(recording.machine.cores_count, recording.machine.cpu_quota_cores)
    topologies = usual.to_a.product((1..8).to_a).map { |pair| PumaTuner::Topology.from(*pair) }
    sweep = sweeper.call(topologies.map { |topology| PumaTuner::Predict::Scenario.of(topology, workload.arrivals) })
    PumaTuner::Advise::Advisor.new(PumaTuner::Advise::Constraints.new.inside(recording.machine)).call(workload, sweep).recommendation.topology.to_s
  end

  test "what is recorded since a moment has neither the requests of before, nor their time, nor what they took" do
    ServedApp.open(rackup: RACKUP, puma_rb: "threads 4, 4\nrequire 'puma_tuner/probe'\nPumaTuner.run") do |app|
      port = app.start
      ServedApp.request(port, "/work", clients: 4, each: 50)
      ledgers = Probe::Ledgers.new(get(port, "/folder"))
      since = Probe::Snapshot::Moment.now(ledgers.read)
      ServedApp.request(port, "/work", clients: 2, each: 5)
      machine = Probe::MachineFacts.read(app.master_pid)
      recent, whole = [since, nil].map { |moment| wait_until("all requests") { Probe::Snapshot.of(ledgers.read, machine:, since: moment).then { |found| found if found.requests_count >= 10 } } }
      assert_equal [10, true], [recent.requests_count, whole.requests_count > 200]
      assert_operator recent.duration_ns, :<, whole.duration_ns / 2
      assert_operator recent.processes.sum(&:cpu_ns), :<, whole.processes.sum(&:cpu_ns) / 4
    end
  end

  test "a cluster's lines name their workers, and all tell the same forecast" do
    ServedApp.open(rackup: RACKUP, puma_rb: puma_rb(2)) do |app|
      port = app.start("-w", "2")
      ServedApp.request(port, "/work", clients: 4, each: 60)
      lines_with_forecast(app, port)
      assert_equal %w[0 1], app.printed.grep(/\Aworker \d puma srv tp/).map { |line| line[/\d/] }.uniq.sort
      told = app.printed.each_cons(2).select { |_, below| below.start_with?("  by a forecast") }.map(&:first).uniq
      assert_equal 1, told.size, told.inspect
      assert_match(/\ARecommended config: puma -t (\d):\1( -w \d+)?\z/, told.first)
    end
  end

  test "a cluster whose workers alone know the probe has a forecast, too" do
    probe = puma_rb(0).lines.drop(3).join
    ServedApp.open(rackup: probe + RACKUP, puma_rb: "threads 4, 4\nworkers 2\n") do |app|
      port = app.start("-w", "2")
      ServedApp.request(port, "/work", clients: 4, each: 60)
      assert_match(/\A  by a forecast from \d+ recorded requests: /, lines_with_forecast(app, port))
    end
  end
end
