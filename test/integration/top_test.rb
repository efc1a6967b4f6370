# frozen_string_literal: true

require "test_helper"
require "io/console"
require "json"
require "pty"
require "socket"
require "support/command_line"
require "support/namespace"
require "support/served_app"

# `puma_tuner top` beside real servers, in terminals and without.
class TopIntegrationTest < TunerTest
  include CommandLine
  include Namespace

  time_limit 180

  RUN = "require \"puma_tuner/probe\"\nPumaTuner.run(interval_s: 3600)\n#{ServedApp::STOPPING}"

  RACKUP = <<~RUBY
    run lambda { |env|
      (env["PATH_INFO"] == "/report") ? 60_000.times { |i| i.to_s } : sleep(0.004)
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  # What a terminal shows: it understands what Top::Terminal writes.
  class Shown
    attr_reader :text, :lines

    def initialize
      @text = +""
      @lines = []
    end

    def <<(part)
      @text << part
      frame = @text[/.*\e\[H(.*?)\e\[J/m, 1]
      @lines = frame.gsub("\e[2K", "").split(/\r*\n/).map { |line| PumaTuner::Report::Paint.strip(line) } if frame
    end
  end

  # The command in a terminal of its own, between what the terminal's settings were before and after. The shell goes on
  # when the command is interrupted.
  def in_terminal(*words, rows: 24, columns: 80)
    script = "trap : INT; stty rows #{rows} columns #{columns}; stty -g; \"$@\"; echo \"code $?\"; stty -g"
    output, input, pid = PTY.spawn(LockedGems.environment.merge("TERM" => "xterm-256color"), "sh", "-c", script, "sh", RbConfig.ruby, EXECUTABLE, "top", *words)
    shown = Shown.new
    reader = Thread.new do
      loop { shown << output.readpartial(65_536).force_encoding("UTF-8") }
    rescue Errno::EIO, IOError
      nil
    end
    yield shown, input, pid
    reader.join(30) || flunk("it did not end:\n#{shown.lines.join("\n")}")
    shown
  ensure
    Process.kill(:KILL, -pid) if pid && reader&.alive?
    Process.wait(pid) if pid
    [output, input].each { |io| io&.close }
  end

  def command_pid(shell_pid) = wait_until("the command") { PumaTuner::Probe::Processes.children_of(shell_pid).first }

  # Requests that go on until the block has ended, each over a connection of its own, so that each worker gets some.
  def under_load(port)
    done = false
    clients = %w[/articles /articles /report].map do |path|
      Thread.new { Net::HTTP.get("127.0.0.1", path, port) && sleep(0.02) until done }
    end
    yield
  ensure
    done = true
    clients.each(&:join)
  end

  def ledgers_count(app) = app.ledgers_folder ? Dir["#{app.ledgers_folder}/*.ledger"].size : 0

  def cluster(puma_rb: "threads 3, 3\nworkers 2\n#{RUN}", options: ["-w", "2"], before: [], **)
    ServedApp.open(rackup: RACKUP, puma_rb:) do |app|
      port = app.start(*options, before:, **)
      # A worker says that it has booted before it records.
      wait_until("a ledger of each process") { ledgers_count(app) >= (options.empty? ? 1 : 2) } if before.empty?
      yield app, port
    end
  end

  # The settings before and after stand around all else that was printed.
  def assert_restored(shown)
    before, after = shown.text.scan(/^[0-9a-f:]{60,}(?=\r)/)
    assert before, shown.text
    assert_equal before, after
    assert_includes shown.text, PumaTuner::Top::Terminal::LEAVE
    assert_operator shown.text.rindex(PumaTuner::Top::Terminal::LEAVE), :>, shown.text.rindex(PumaTuner::Top::Terminal::ENTER)
  end

  def no_forecaster_of(app)
    Dir["/proc/[0-9]*/cmdline"].none? { |path| PumaTuner::Probe::Processes.read(path).start_with?("puma_tuner top, forecasts of #{app.master_pid}") }
  end

  test "in a terminal: endpoints, workers and threads, keys, another size, and a snapshot that predict reads" do
    cluster do |app, port|
      under_load(port) do
        shown = in_terminal(app.master_pid.to_s, "--every", "0.5", "--output", "#{app.folder}/o.json") do |screen, terminal|
          wait_until("endpoints") { screen.lines.grep(%r{\AGET /articles +\d}).any? && screen.lines.grep(%r{\AGET /report +\d}).any? }
          assert_match(/\A2x3 \| [\d.]+ req\/s \| p50 .* requests in [\d.]+ s \| #{app.master_pid} /, screen.lines[1])
          assert_equal PumaTuner::Top::Screen::KEYS, screen.lines.last
          wait_until("a forecast") { screen.lines.grep(/\Awhat if +2x3 now +2x2 +2x4 +1x3 +3x3/).any? }
          assert_match(/forecasts \d+\.\d%/, screen.lines[2])
          terminal.write("w")
          wait_until("workers") { screen.lines.grep(/\A[01] +\d+ +[\d.]+ .*\[[#.]{3}\]/).size == 2 }
          assert_equal app.worker_pids.sort, screen.lines.grep(/\A[01] /).map { |line| line.split[1].to_i }.sort
          terminal.write("t")
          wait_until("threads") { screen.lines.grep(/\Apuma reactor/).any? }
          terminal.winsize = [12, 70]
          wait_until("the smaller screen") { screen.lines.size == 12 && screen.lines.all? { |line| line.length <= 70 } }
          terminal.write("e \e[A?") # an arrow means nothing
          wait_until("help") { screen.lines.any? { |line| line.start_with?("q  quit") } }
          assert_includes screen.lines[2], "FROZEN"
          terminal.write("xn")
          wait_until("the snapshot") { screen.lines.last.match?(/requests are in /) }
          terminal.write("p")
          wait_until("the profile's beginning") { screen.lines.last.match?(/Slow requests of GET \/articles are being profiled/) }
          wait_until("its end") { screen.lines.last.match?(/\A(\d+ slow of \d+ requests of GET \/articles: `puma_tuner report |No profile: )/) }
          terminal.write("q")
        end
        assert_restored(shown)
        assert_includes shown.text, "code 0"
        assert_match(/observation: .*o\.json\r\n/, shown.text)
      end
      assert no_forecaster_of(app)
      result = puma_tuner("predict", "o.json", "--threads", "2,3", "--workers", "2", "--seeds", "2", "--simulated-requests", "200", "--output", "s.json", folder: app.folder)
      assert_equal 0, result.code, result.err
      assert_equal %w[2x2 2x3], PumaTuner::Document.read("#{app.folder}/s.json", :sweep).forecasts.map { |forecast| forecast.topology.to_s }
    end
  end

  test "however it ends, the terminal is left as it was, and nothing of ours stays" do
    cluster do |app, port|
      ends = {"Ctrl-C" => ->(terminal, _) { terminal.write("\x03") }, "SIGTERM" => ->(_, pid) { Process.kill(:TERM, command_pid(pid)) }}
      ends.each do |name, finish|
        shown = in_terminal(app.folder, "--every", "0.3") do |screen, terminal, pid|
          wait_until("the screen") { screen.lines.any? }
          finish.call(terminal, pid)
        end
        assert_restored(shown)
        assert_includes shown.text, "code 130", name
        refute_includes shown.text, "our bug", name
        assert no_forecaster_of(app), name
      end
    end
  end

  test "Ctrl-Z gives the terminal back, and the screen comes again afterwards" do
    cluster do |app, _port|
      in_terminal(app.folder, "--every", "0.3") do |screen, terminal, pid|
        wait_until("the screen") { screen.lines.any? }
        command = command_pid(pid)
        Process.kill(:TSTP, command)
        wait_until("the stop") { File.read("/proc/#{command}/stat")[/\) (\S)/, 1] == "T" }
        wait_until("the other screen's end") { screen.text.end_with?(PumaTuner::Top::Terminal::LEAVE) }
        Process.kill(:CONT, command)
        wait_until("the screen again") { screen.text.rindex(PumaTuner::Top::Terminal::ENTER) > screen.text.rindex(PumaTuner::Top::Terminal::LEAVE) }
        terminal.write("q")
      end.then { |shown| assert_restored(shown) }
    end
  end

  test "when the server ends, so does it, and says so" do
    cluster do |app, _port|
      shown = in_terminal(app.folder, "--every", "0.3") do |screen, _terminal|
        wait_until("the screen") { screen.lines.any? }
        app.stop
      end
      assert_restored(shown)
      assert_match(/puma_tuner: the server \d+ \(.*\) has ended/, shown.text)
      assert_includes shown.text, "code 0"
    end
  end

  test "once, as a document: what was served, by whom, what a worker more would do, and what the server's own lines recommend" do
    cluster(extra: {"PUMA_TUNER_FORECAST" => "off"}) do |app, port|
      recommended = PumaTuner::Probe::Recommendation.new(topology: "2x8", today: "2x3", metric: "throughput", ratio: [1.5, 1.4, 1.6], requests_count: 300, why_not: nil, detail: nil,
        made_at_s: Time.now.to_f)
      server = wait_until("the server") { PumaTuner::Top::Servers.new.all.find { |one| one.folder == File.realpath(app.folder) } }
      recommended.write(server.directory)
      under_load(port) do
        # A forecast has the lowest priority: beside a busy server it takes longer than two windows of 5 s.
        result = puma_tuner("top", app.worker_pids.first.to_s, "--once", "--json", "--every", "2", folder: app.folder)
        assert_equal 0, result.code, result.err
        status = PumaTuner::Document.parse(result.out, "status", [:status])
        assert_equal [app.master_pid, "2x3", File.realpath(app.folder)], [status.pid, status.topology.to_s, status.folder]
        assert_equal ["GET /articles", "GET /report"], status.endpoints.map(&:name).sort
        assert_equal status.requests_count, status.workers.sum(&:requests_count)
        assert_in_delta status.requests_count, status.throughput_per_s * status.window_ns / 1e9, 1
        assert_equal %w[2x3 2x2 2x4 1x3 3x3], status.outlook.settings.map { |setting| setting.topology.to_s }
        assert_equal recommended, status.recommendation
        assert_operator status.cost.status_ratio, :>, 0
        status.workers.each { |worker| assert_operator worker.pss_bytes, :>, 1 << 20 }
      end
    end
  end

  test "without a terminal there are lines, as long as somebody reads them" do
    cluster(puma_rb: "threads 3, 3\n#{RUN}", options: []) do |app, port|
      under_load(port) do
        out, out_end = IO.pipe
        pid = start_puma_tuner("top", app.folder, "--every", "0.2", out: out_end, err: "#{app.folder}/err")
        out_end.close
        heading, *lines = Array.new(4) { out.gets }
        assert_match(/\A req\/s +n .*gvlwait%/, heading)
        lines.each { |line| assert_match(/\A +[\d.]+ +\d+ .*\.$/, line) }
        out.close
        assert_equal 141, Process.wait2(pid).last.exitstatus, File.read("#{app.folder}/err")
      end
    end
  end

  test "a page at a socket is there until Ctrl-C, and the socket is gone with it" do
    cluster(puma_rb: "threads 3, 3\n#{RUN}", options: []) do |app, _port|
      socket = "#{app.folder}/top.sock"
      out, out_end = IO.pipe
      pid = start_puma_tuner("top", app.folder, "--web", "--listen", "unix://#{socket}", "--every", "0.3", out: out_end, err: "#{app.folder}/err")
      out_end.close
      path = out.gets[%r{path (/\S+/)}, 1]
      said = UNIXSocket.open(socket) do |client|
        client.timeout = 20
        client.write("GET #{path}events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.gets("event: status\n") && client.gets
      end
      assert_match(/No request has ended in this window/, said)
      Process.kill(:INT, pid)
      assert_equal 130, Process.wait2(pid).last.exitstatus, File.read("#{app.folder}/err")
      refute_path_exists socket
    end
  end

  test "what a forecast is made of is what a whole recording has, but for how each part was spread" do
    cluster do |app, port|
      forecaster = PumaTuner::Top::Forecaster.new(PumaTuner::Top::Servers.new.find(app.folder), window_s: 1)
      forecaster.send(:begin_window)
      under_load(port) { sleep(1.5) }
      sleep(0.3)
      whole, light = [true, false].map { |whole| forecaster.send(:observation, whole:) }
      assert_equal [[], true], [light.endpoints.flat_map(&:distributions), whole.endpoints.all? { |one| one.distributions.any? }]
      assert_equal(*[whole, light].map { |one| one.endpoints.map { |endpoint| endpoint.with(distributions: []) } })
      assert_equal(*[whole, light].map { |one| PumaTuner::Model::WorkloadFit.workload(one).endpoints })
      PumaTuner::Document.parse(PumaTuner::Document.dump(light), "light", [:observation])
    end
  end

  test "slow requests are profiled from outside, and where they can't be that is said" do
    cluster do |app, port|
      server = PumaTuner::Top::Servers.new.find(app.folder)
      path = "#{app.folder}/profiles/profile.json"
      ours = PumaTuner::Top::SlowProfile.new(server.with(ours: true)).call("GET /report", path)
      assert_equal :recorded_by_command, ours.kind
      without = PumaTuner::Profile::Perf.new(search_path: "")
      assert_match(/perf is not on PATH/, PumaTuner::Top::SlowProfile.new(server, perf: without).call("GET /report", path).facts["detail"])
      skip "perf can't be used here: #{PumaTuner::Profile::Perf.new.why_not}" if PumaTuner::Profile::Perf.new.why_not
      under_load(port) do
        said = PumaTuner::Top::SlowProfile.new(server).call("GET /report", path)
        assert_equal :profile, said.kind, said.facts["detail"]
        costs = PumaTuner::Document.read(path, :profile)
        assert_equal [said.facts["slow_count"], "slow request"], [costs.work_count, costs.work_noun]
        assert_operator said.facts["slow_count"], :<, 0.5 * said.facts["requests_count"]
        assert_operator costs.total_amount, :>, 0
        assert_operator costs.samples_count, :<, 499 * PumaTuner::Top::SlowProfile::DURATION_S
        assert_equal :none_slow, PumaTuner::Top::SlowProfile.new(server).call("GET /nothing", path).kind
      end
    end
  end

  def orders(server) = server.ledgers.paths.map { |path| File.binread(path, 16, PumaTuner::Probe::Ledger::LAYOUT[:lanes_wanted_offset]) }

  test "lanes are recorded for whoever asks, once for those who ask together, and never while a command of ours records" do
    cluster do |app, port|
      server = PumaTuner::Top::Servers.new.find(app.folder)
      recorder = PumaTuner::Top::LaneRecorder.new(server)
      # The request that found the server ready may end after it was answered.
      said = wait_until("no request any more") do
        recorder.call && nil
      rescue PumaTuner::MeasurementFailed => failure
        failure.message
      end
      assert_match(/no request ended within 2 seconds/, said)
      under_load(port) do
        one, other = Array.new(2) { Thread.new { recorder.call } }.map(&:value)
        assert_same one, other
        assert_equal [0, 1], one.processes.map(&:worker_index).sort
        assert_operator one.pool.sum { |lane| lane.works.size / 3 }, :>, 20
        again = recorder.call
        refute_equal one, again
        orders = orders(server)
        failure = assert_raises(PumaTuner::MeasurementFailed) { PumaTuner::Top::LaneRecorder.new(server.with(ours: true)).call }
        assert_equal "a puma_tuner command records this server", failure.message
        assert_equal orders, orders(server)
      end
      app.stop
      assert_match(/has ended/, assert_raises(PumaTuner::MeasurementFailed) { recorder.call }.message)
    end
  end

  test "a server is found whichever way the probe came in" do
    ways = {"plugin" => ["threads 2, 2\nplugin :puma_tuner", {}], "autorun" => ["threads 2, 2", {"RUBYOPT" => "-rpuma_tuner/autorun"}]}
    ways.each do |way, (puma_rb, extra)|
      cluster(puma_rb:, options: [], extra:) do |app, port|
        under_load(port) do
          result = puma_tuner("top", "--once", "--json", "--every", "0.3", app.folder)
          assert_equal 0, result.code, "#{way}: #{result.err}\n#{app.printed.join("\n")}"
          assert_operator JSON.parse(result.out).fetch("requests_count"), :>, 10, way
        end
      end
    end
  end

  test "a server that a command of ours records is shown, and its recording is left alone" do
    ServedApp.open(rackup: RACKUP) do |app|
      bundle = app.environment.slice("PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH").map { |pair| pair.join("=") }
      pid = start_puma_tuner("measure", "--directory", app.folder, "--load", "--path", "/articles", "--connections", "2", "--duration", "6", "--warmup", "0.4", "--settings", "none",
        "--output", "#{app.folder}/o.json", "--", "env", *bundle, "bundle", "exec", "puma", out: File::NULL, err: "#{app.folder}/err")
      wait_until("the server") { PumaTuner::Top::Servers.new.all.any? { |server| server.folder == File.realpath(app.folder) } }
      result = puma_tuner("top", app.folder, "--once", "--json", "--every", "0.3")
      assert_equal [0, "ours"], [result.code, JSON.parse(result.out).dig("outlook", "why_not")], result.err
      assert_equal 0, Process.wait2(pid).last.exitstatus, File.read("#{app.folder}/err")
      assert_operator PumaTuner::Document.read("#{app.folder}/o.json", :observation).endpoints.first.traces.size, :>, 100
    end
  end

  test "a server in a container is found by its id out here, with its workers" do
    before = in_namespace("mount -t proc proc /proc && mount -t tmpfs none /dev/shm")
    before = [before.first, "--pid", "--fork", *before.drop(1)]
    cluster(before:) do |app, port|
      under_load(port) do
        leader = PumaTuner::Top::Servers.new.all.find { |server| server.folder == File.realpath(app.folder) }
        assert leader.directory.start_with?(File.join("/proc", leader.pid.to_s, "root", PumaTuner::Probe::Ledgers::IN_MEMORY, "")), leader.directory
        result = puma_tuner("top", leader.pid.to_s, "--once", "--json", "--every", "1")
        assert_equal 0, result.code, result.err
        status = PumaTuner::Document.parse(result.out, "status", [:status])
        assert_equal PumaTuner::Probe::Processes.children_of(leader.pid).sort, status.workers.map(&:pid).sort
        assert_nil status.outlook.why_not, status.outlook.detail
        status.workers.each { |worker| assert_operator worker.cpu_ratio, :>, 0 }
      end
    end
  end

  test "what can't be shown is said, with what to do" do
    Dir.mktmpdir do |folder|
      assert_mistake(/no server that is recorded belongs to #{folder}.*PumaTuner\.run/, puma_tuner_in_fork("top", folder))
      assert_mistake(/neither a process id nor a folder/, puma_tuner_in_fork("top", "#{folder}/nothing"))
      assert_mistake(/there is no process 4194304/, puma_tuner_in_fork("top", "4194304"))
      assert_mistake(/no server that is recorded belongs to #{Process.pid}/, puma_tuner_in_fork("top", Process.pid.to_s, "--once"))
      assert_mistake(/--every 0: write seconds/, puma_tuner_in_fork("top", "--every", "0"))
      assert_mistake(/--web is a page; leave out --once/, puma_tuner_in_fork("top", "--web", "--once"))
      assert_mistake(%r{tcp://0.0.0.0:80 could be reached by others}, puma_tuner_in_fork("top", "--web", "--listen", "tcp://0.0.0.0:80"))
      assert_mistake(/cannot write .*nothing.o.json/, puma_tuner_in_fork("top", "--output", "#{folder}/nothing/o.json"))
    end
  end
end
