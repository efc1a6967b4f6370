# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/served_app"

# Around a command that starts Puma: nothing of the app's edited, the gem not in its Gemfile.
class MeasureTest < TunerTest
  include PumaTuner
  include CommandLine
  include ServedApp::Observing

  # @param requests_count [Integer] to wait for, see Observing
  # @return [Probe::Observation] of the requests that the block sends
  def observe(requests_count = 0, rackup: ServedApp::WORKING_APP, puma_rb: nil, topology: "1x3",
    gemfile: ServedApp::PUMAS.fetch("puma_8_0"), lanes: false)
    ServedApp.open(rackup:, puma_rb:) do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment(gemfile:))
      Host::ServerProcess.run(command, topology: Topology.parse(topology), measure: true) do |server|
        collector = Measure::Collector.new(server, command: command.to_s, lanes:)
        collector.begin_window
        yield server
        return observation_of(requests_count, collector)
      end
    end
  end

  def port_of(server) = server.url[/\d+\z/].to_i

  ServedApp::PUMAS.each do |name, gemfile|
    %w[1x3 2x3].each do |topology|
      test "every request is counted, and every budget closes, with #{topology} on #{name}" do
        observation = observe(90, topology:, gemfile:) { |server| ServedApp.request(port_of(server), "/work") }
        assert_equal 90, observation.requests_count
        endpoint = observation.endpoints.first
        assert_equal "GET /work", endpoint.name
        assert_equal 0, endpoint.budget.residual_ns
        assert_operator endpoint.budget.sleep_ns, :>=, 90 * 4_950_000
        assert_operator endpoint.budget.cpu_ns, :>, 0
        assert_equal Topology.parse(topology), observation.topology
        assert_equal 90, observation.threads.sum(&:requests_count)
        observation.threads.each { |thread| assert_equal 0, thread.budget.residual_ns }
        assert_equal gemfile[/\d_\d/].tr("_", "."), observation.server.puma_version[/\A\d\.\d/]
        # What it was seen to have tells it without its number.
        assert_equal Predict::Rules.puma(observation.server.puma_version), Predict::Rules.puma(nil, features: observation.server.puma_features)
      end
    end
  end

  test "the wait for the GVL is seen, which a middleware does not see" do
    rackup = "run ->(env) { 60_000.times { |i| i.to_s }; [200, {}, ['x']] }"
    observation = observe(90, rackup:) { |server| ServedApp.request(port_of(server), "/", clients: 3, each: 30) }
    # Whose wait it is depends on who is first: the pool thread's, or the reactor's, which is the queue.
    waits_ratio = observation.budget.share_ratio(:gvl_wait) + observation.budget.share_ratio(:queue)
    assert_operator waits_ratio, :>, 0.3
    assert_operator observation.budget.share_ratio(:gvl_wait), :>, 0.01
    assert_operator observation.budget.share_ratio(:io), :<, waits_ratio / 2
  end

  # As Solid Queue's plugin does it.
  FORKING = "fork { Thread.new { Thread.current.name = 'importer'; loop { PumaTuner.measure('import') { 2_000.times { |i| i.to_s } } && sleep(0.002) } }.join }\n"

  test "jobs in a process that the app forks beside its server take nothing of any request, and are none of the server's" do
    observation = observe(90, rackup: FORKING + ServedApp::WORKING_APP, lanes: true) do |server|
      wait_until("a job") { Dir[File.join(server.directory, "ledgers/*.ledger")].size > 1 }
      Probe::Ledgers.of_run(server.directory).order_lanes # of a process that has begun since, too
      ServedApp.request(port_of(server), "/work")
    end
    assert_equal [["GET /work"], [], ["single"]], [observation.endpoints.map(&:name), observation.jobs, observation.processes.map(&:role)]
    refute_includes observation.background.map(&:name), "importer"
    assert_equal observation.processes.map(&:pid), observation.lanes.map(&:pid)
  end

  test "jobs in a process that the app forks in a cluster's worker are none of that worker's either" do
    observation = observe(90, rackup: FORKING + ServedApp::WORKING_APP, puma_rb: "preload_app! false\n", topology: "2x3") do |server|
      wait_until("a job of each worker's child") { Dir[File.join(server.directory, "ledgers/*.ledger")].size == 4 }
      ServedApp.request(port_of(server), "/work")
      assert_equal [0, 1, nil, nil], Probe::Ledgers.of_run(server.directory).read.values.map { |ledger| ledger.facts["worker_index"] }.sort_by { |index| index || 2 }
    end
    assert_equal [["GET /work"], [], %w[master worker worker]], [observation.endpoints.map(&:name), observation.jobs, observation.processes.map(&:role)]
    refute_includes observation.background.map(&:name), "importer"
  end

  test "whoever computes up to the end of its request is told to have held the GVL" do
    rackup = <<~RUBY
      spin = -> { (end_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.02) && (nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < end_s) }
      run ->(env) { (env["PATH_INFO"] == "/compute") ? spin.call : sleep(0.02); [200, {}, ["x"]] }
    RUBY
    observation = observe(rackup:, topology: "1x5") do |server|
      %w[/compute /sleep].map { |path| Thread.new { ServedApp.request(port_of(server), path, clients: 1, each: 60) } }.each(&:join)
    end
    blame = observation.endpoints.find { |endpoint| endpoint.name == "GET /sleep" }.blame
    holder = blame.max_by(&:wait_ns)
    assert_equal ["request", "GET /compute"], [holder.kind, holder.holder]
    assert_operator holder.wait_ns, :>=, 0.6 * blame.sum(&:wait_ns), blame.inspect
  end

  test "a keep-alive client's pause is no part of a request" do
    pause_s = 0.5
    began_s = monotonic_s
    observation = observe(3) do |server|
      Net::HTTP.start("127.0.0.1", port_of(server)) do |http|
        began_s = monotonic_s
        3.times do |number|
          sleep pause_s unless number.zero?
          http.get("/sleep")
        end
      end
    end
    assert_equal 3, observation.requests_count
    # Of two pauses one is left for what the server still has to do after a response.
    assert_operator observation.budget.wall_ns / 1e9, :<, monotonic_s - began_s - pause_s
  end

  ServedApp::PUMAS.each do |name, gemfile|
    test "without Puma's reactor a request begins once it has come, and has queued where that was before its turn, on #{name}" do
      ask = ->(socket) { socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
      rackup = "run ->(env) { sleep 0.2; [200, {}, ['x']] }"
      observation = observe(3, rackup:, puma_rb: "queue_requests false\n", topology: "1x1", gemfile:) do |server|
        connect = -> { TCPSocket.new("127.0.0.1", port_of(server)) }
        late = connect.call
        sleep 1
        ask.call(late)
        assert_match(/200 OK/, late.read)
        both = Array.new(2) { connect.call.tap(&ask) }
        both.each { |socket| assert_match(/200 OK/, socket.read) }
        [late, *both].each(&:close)
      end
      # Puma 6 leaves a connection to the kernel while its thread is busy.
      least_s = Predict::Rules.puma(observation.server.puma_version)[:queueless_gate].zero? ? 0.05 : 0
      assert_includes least_s..1, observation.budget.queue_ns / 1e9
    end
  end

  test "an observation is the same after it was written and read" do
    observation = observe(4) { |server| ServedApp.request(port_of(server), "/work", clients: 2, each: 2) }
    Dir.mktmpdir do |folder|
      path = File.join(folder, "observation.json")
      Document.write(observation, path)
      again = Document.read(path, :observation)
      assert_equal observation.budget, again.budget
      assert_equal Document.dump(observation), Document.dump(again)
    end
  end

  test "a client that gave up in Puma's queue made no request" do
    Dir.mktmpdir do |folder|
      rackup = <<~RUBY
        run ->(env) {
          File.write("#{folder}/taken", "") if env["PATH_INFO"] == "/held"
          sleep 0.01 until env["PATH_INFO"] != "/held" || File.exist?("#{folder}/let_go")
          [200, {}, ["x"]]
        }
      RUBY
      observation = observe(2, rackup:, topology: "1x1") do |server|
        patient, *impatient = Array.new(4) do
          TCPSocket.new("127.0.0.1", port_of(server)).tap do |socket|
            socket.write("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            wait_until("the first request") { File.exist?("#{folder}/taken") }
          end
        end
        impatient.each(&:close)
        File.write("#{folder}/let_go", "")
        assert_match(/200 OK/, patient.readpartial(1_000))
        ServedApp.request(port_of(server), "/work", clients: 1, each: 1)
      end
      assert_equal({"GET /held" => 1, "GET /work" => 1}, observation.endpoints.to_h { |endpoint| [endpoint.name, endpoint.requests_count] })
    end
  end

  test "query strings are not recorded" do
    observation = observe(2) { |server| ServedApp.request(port_of(server), "/work?token=secret", clients: 1, each: 2) }
    refute_includes Document.dump(observation), "secret"
  end

  test "a window without requests is said to be one" do
    error = assert_raises(InvalidMeasurement) { observe { |_server| nil } }
    assert_match(/no request was served/, error.message)
  end

  test "a rackup file that does not load ends with its error and leaves no process" do
    error = assert_raises(ServerFailed) { observe(rackup: "raise 'wrong on purpose'") { |_server| nil } }
    assert_match(/wrong on purpose/, error.message)
  end

  test "a port in use is named" do
    taken = TCPServer.new("127.0.0.1", 0)
    ServedApp.open do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment)
      error = assert_raises(ServerFailed) do
        Host::ServerProcess.run(command, bind: "tcp://127.0.0.1:#{taken.local_address.ip_port}") { flunk "it started" }
      end
      assert_match(/listens there/, error.message)
    end
  ensure
    taken.close
  end

  test "a command that is not there is named" do
    command = Host::Command.new(words: ["no-such-server"], directory: Dir.pwd, environment: ENV.to_h)
    error = assert_raises(ServerFailed) { Host::ServerProcess.run(command) { flunk "it started" } }
    assert_match(/no-such-server/, error.message)
  end

  test "a command that never serves is given up, and stopped" do
    command = Host::Command.new(words: ["sleep", "60"], directory: Dir.pwd, environment: ENV.to_h)
    error = assert_raises(ServerFailed) { Host::ServerProcess.run(command, boot_limit_s: 0.3) { flunk "it started" } }
    assert_match(/did not come up within/, error.message)
  end

  # Its output, and what is said, come before it is given up.
  test "a server that the probe never comes into is told to be one after a while, with who cleared the environment" do
    ServedApp.open do |app|
      command = Host::Command.new(words: %w[env -u RUBYOPT bundle exec puma -b tcp://127.0.0.1:0], directory: app.folder, environment: app.environment)
      echo = StringIO.new
      error = assert_raises(ServerFailed) { Host::ServerProcess.run(command, measure: true, bind: nil, boot_limit_s: 6, silence_s: 4, echo:) { flunk "it was seen" } }
      assert_match(/\* Listening on .*^puma_tuner: no Puma has told of itself in 4 s, so nothing is recorded yet\. Process \d+ \(puma .*\) runs without puma_tuner/m, echo.string)
      assert_equal 1, echo.string.scan("puma_tuner: no Puma").size
      assert_match(/did not come up within 6 s\. Process \d+ .*: let RUBYOPT, RUBYLIB and all PUMA_TUNER_… through/, error.message)
      assert_empty processes_in(app.folder)
    end
  end

  test "what is no Ruby, or has what loads the probe and boots for long, is not told to be without it" do
    [%w[sleep 60], [RbConfig.ruby, "-e", "sleep 60"]].each do |words|
      command = Host::Command.new(words:, directory: Dir.pwd, environment: {"PATH" => ENV["PATH"]})
      error = assert_raises(ServerFailed) { Host::ServerProcess.run(command, measure: true, boot_limit_s: 0.6) { flunk "it started" } }
      assert_match(/within 0\.6 s\. Does .* start Puma\? Give more time with --boot-limit/, error.message)
    end
  end

  test "Ctrl-C before there is a server says that nothing was recorded" do
    Dir.mktmpdir do |folder|
      err = File.join(folder, "err.txt")
      long = "77.#{Process.pid}"
      pid = start_puma_tuner("measure", "--", "sleep", long, chdir: folder, out: File::NULL, err:)
      wait_until("the command") { Dir["/proc/[0-9]*/cmdline"].any? { |path| Probe::Processes.read(path) == "sleep\0#{long}\0" } }
      Process.kill(:INT, pid)
      assert_equal 130, Process.wait2(pid).last.exitstatus
      assert_match(/^puma_tuner: nothing was recorded\n.*interrupted; everything it started is stopped/m, File.read(err))
    end
  end

  test "a terminal that is gone ends it as Ctrl-C does, unless `nohup` has it go on" do
    before_us = trap(:HUP, "SYSTEM_DEFAULT") # these tests may run under `nohup` themselves
    Dir.mktmpdir do |folder|
      [[], ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]].each_with_index do |before, ignored|
        err = File.join(folder, "err.txt")
        long = "7#{ignored}.#{Process.pid}"
        pid = Process.spawn(LockedGems.environment, *before, RbConfig.ruby, EXECUTABLE, "measure", "--", "sleep", long, chdir: folder, out: File::NULL, err:)
        wait_until("the command") { Dir["/proc/[0-9]*/cmdline"].any? { |path| Probe::Processes.read(path) == "sleep\0#{long}\0" } }
        assert_equal ignored, Probe::Processes.read("/proc/#{pid}/status")[/^SigIgn:\s*(\h+)/, 1].hex[Signal.list.fetch("HUP") - 1]
        Process.kill((ignored == 1) ? :INT : :HUP, pid)
        assert_equal 130, Process.wait2(pid).last.exitstatus
        assert_match(/interrupted; everything it started is stopped/, File.read(err))
      end
    end
  ensure
    trap(:HUP, before_us || "DEFAULT")
  end

  KEEPING = <<~RUBY
    require "puma_tuner"
    PumaTuner::CLI.define_singleton_method(:run) do |*|
      puts "works"
      sleep
    rescue Interrupt
      puts "keeps"
      sleep 0.5
      puts "kept"
    end
    $stdout.sync = true
    exit PumaTuner::CLI.call(["measure"])
  RUBY

  test "a terminal that is gone is told of twice, by shell and kernel, and the second time loses nothing of what is kept" do
    before_us = trap(:HUP, "SYSTEM_DEFAULT")
    IO.popen([LockedGems.environment, RbConfig.ruby, "-e", KEEPING]) do |io|
      %w[works keeps].each do |word|
        assert_equal "#{word}\n", io.gets
        Process.kill(:HUP, io.pid)
      end
      assert_equal "kept\n", io.read
    end
  ensure
    trap(:HUP, before_us || "DEFAULT")
  end

  test "nothing of a cluster is left when the block fails" do
    pids = nil
    assert_raises(ArgumentError) do
      observe(topology: "2x2") do |server|
        pids = server.pids
        raise ArgumentError
      end
    end
    assert_equal 3, pids.size
    pids.each { |pid| refute Probe::Processes.alive?(pid), pid }
  end
end
