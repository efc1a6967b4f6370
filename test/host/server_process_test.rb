# frozen_string_literal: true

require "test_helper"
require "shellwords"
require "support/served_app"

class ServerProcessTest < TunerTest
  kind :integration

  include PumaTuner

  # As `rails server` does it.
  WITH_PID_FILE = <<~RUBY
    path = ENV["PIDFILE"] || "tmp/pids/server.pid"
    abort "A server is already running (pid: \#{File.read(path)}, file: \#{path})." if File.exist?(path)
    File.write(path, Process.pid)
    run ->(*) { [200, {}, [path]] }
  RUBY

  # Whoever asks for it may send no signal, as to processes of another user.
  module Forbidding
    def kill(...) = Thread.current[:signals_forbidden] ? raise(Errno::EPERM) : super
  end
  Process.singleton_class.prepend(Forbidding)

  def serve(app, **, &) = Host::ServerProcess.run(Host::Command.of_rackup(File.join(app.folder, "config.ru")), **, &)

  test "servers of one folder run beside each other, and beside the user's own, though each has a pid file" do
    ServedApp.open(rackup: WITH_PID_FILE) do |app|
      FileUtils.mkdir_p(File.join(app.folder, "tmp/pids"))
      File.write(File.join(app.folder, "tmp/pids/server.pid"), Process.pid)
      serve(app) do |one|
        serve(app) do |two|
          paths = [one, two].map { |server| Net::HTTP.get(URI(server.url)) }
          assert_equal [one, two].map { |server| File.join(server.directory, "server.pid") }, paths
        end
      end
      assert_equal Process.pid.to_s, File.read(File.join(app.folder, "tmp/pids/server.pid"))
    end
  end

  ServedApp::PUMAS.each do |name, gemfile|
    test "a configuration takes the place of the app's, also of the last one that the command names, on #{name}" do
      files = {"common.rb" => "threads 2, 2\nfirst_data_timeout 33\n", "own.rb" => "threads 3, 3\npersistent_timeout 31\n", "other.rb" => "threads 4, 4\n"}
      ServedApp.open(puma_rb: "threads 5, 5\n") do |app|
        files.each { |path, text| File.write(File.join(app.folder, path), text) }
        found = [[], %w[-C own.rb], %w[-C common.rb --config own.rb]].map do |options|
          command = Host::Command.new(words: ["bundle", "exec", "puma", *options], directory: app.folder, environment: app.environment(gemfile:))
          Host::ServerProcess.run(command, puma_options: {"config" => File.join(app.folder, "other.rb")}) do |server|
            [server.announcement["max_threads_count"], *server.announcement["options"].values_at("first_data_timeout", "persistent_timeout")]
          end
        end
        usual = found.first.drop(1)
        assert_empty usual & [nil, "31", "33"]
        assert_equal [[4, *usual], [4, *usual], [4, "33", usual.last]], found
      end
    end
  end

  test "a server's folder is removed, whatever goes wrong while it is stopped" do
    ServedApp.open do |app|
      folder = nil
      assert_raises(Errno::ENOSPC) do
        serve(app) do |server|
          folder = server.directory
          server.instance_variable_get(:@log).define_singleton_method(:finish) { raise Errno::ENOSPC }
        end
      end
      refute_path_exists folder
    end
  end

  test "one that another user's processes make up is told with what stops it, beside what was wrong" do
    Thread.current[:signals_forbidden] = true
    error = nil
    _, told = capture_io do
      error = assert_raises(ServerFailed) { Host::ServerProcess.run(Host::Command.of_words(%w[sleep 60]), boot_limit_s: 0.1) { nil } }
    end
    assert_match(/The server did not come up within 0\.1 s\. Does sleep 60 start Puma\?/, error.message)
    assert_match(/^puma_tuner: what sleep 60 started runs as another user and could not be stopped; stop it with `sudo kill -- -\d+`/, told)
  ensure
    Thread.current[:signals_forbidden] = nil
    group = told.to_s[/ -(\d+)`/, 1] and Process.kill(:KILL, -group.to_i)
  end

  # @return [String] a command for `sh`: something that has left its group as a daemon does, and tells its id in the file
  def daemon(file) = "setsid sh -c 'echo $$ > #{file}; exec sleep 60' & until [ -s #{file} ]; do sleep 0.01; done"

  test "what goes into the background is stopped, and it is told what to give instead" do
    Dir.mktmpdir do |folder|
      file = File.join(folder, "pid")
      error = assert_raises(ServerFailed) { Host::ServerProcess.run(Host::Command.of_words(["sh", "-c", daemon(file)])) { flunk } }
      assert_match(/ended before it served a request\. What it left in the background was stopped: .* in the foreground/, error.message)
      refute Probe::Processes.alive?(Integer(File.read(file)))
      error = assert_raises(ServerFailed) { Host::ServerProcess.run(Host::Command.of_words(["sh", "-c", "#{daemon(file)}; exit 1"])) { flunk } }
      assert_match(/Fix what its output says/, error.message)
      refute Probe::Processes.alive?(Integer(File.read(file)))
    end
  end

  test "a Puma that has left its group, and does not end when it is told to, is stopped all the same" do
    rackup = "trap('TERM', 'IGNORE')\nrun ->(*) { [200, {}, ['fine']] }"
    ServedApp.open(rackup:) do |app|
      command = Host::Command.of_rackup(File.join(app.folder, "config.ru"))
      command = command.with(words: ["sh", "-c", "setsid #{command.words.shelljoin} & wait"])
      pid = nil
      said = said_of_killed do
        pid = Host::ServerProcess.run(command) do |server|
          assert_equal "fine", Net::HTTP.get(URI(server.url))
          server.pids.first
        end
      end
      refute Probe::Processes.alive?(pid)
      assert_equal 1, said.scan(/^puma_tuner: the server's command had not ended 5 s after SIGTERM, and is killed: /).size, said
      assert_silent { Host::ServerProcess.tell_killed }
    end
  end

  # @return [String] what is said meanwhile, as in a process that has not told of a killed server yet
  def said_of_killed(&)
    Host::ServerProcess.instance_variable_set(:@killed_told, nil)
    capture_io(&).last
  end

  test "a server that ends in time is stopped without a word, as is one that is killed after something else went wrong" do
    ServedApp.open do |app|
      said = said_of_killed do
        serve(app) { |server| assert_equal "fine", Net::HTTP.get(URI(server.url)) }
        assert_raises(Interrupt) do
          raise Interrupt
        ensure
          Host::ServerProcess.tell_killed
        end
      end
      refute_match(/SIGTERM/, said)
    end
  end

  # It tells how much CPU its ended children have used.
  CONVERTING = <<~RUBY
    run lambda { |*|
      system("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
      [200, {}, [Process.times.then { |times| times.cutime + times.cstime }.to_s]]
    }
  RUBY

  test "the CPU of programs that the app runs is the app's, and nobody's who disturbs it, though they have ended" do
    ServedApp.open(rackup: CONVERTING) do |app|
      serve(app, topology: Topology.parse("1x1")) do |server|
        first_s = Net::HTTP.get(URI(server.url)).to_f
        before = Host::Readings.take(server, nil)
        last_s = Array.new(3) { Net::HTTP.get(URI(server.url)).to_f }.last
        spent = Host::Readings.take(server, nil) - before
        assert_operator last_s, :>, first_s
        assert_in_delta last_s - first_s, (spent.app_ns - spent.cpu_ns).fdiv(Units::NS_PER_S), 0.05
        assert_equal spent.busy_ns - spent.app_ns - 5, spent.foreign_ns(5)
      end
    end
  end

  test "it ends, and its folder goes, where the command is killed before it could stop it" do
    ServedApp.open do |app|
      reader, writer = IO.pipe
      command = fork { serve(app, topology: Topology.parse("2x1")) { |server| writer.puts(server.directory, server.pids) || sleep } }
      writer.close
      folder, *pids = Array.new(4) { reader.gets.chomp }
      pids.map! { |pid| Integer(pid) }
      assert_equal [true] * 4, [File.directory?(folder), *pids.map { |pid| Probe::Processes.alive?(pid) }]
      Process.kill(:KILL, command)
      Process.wait(command)
      wait_until("the end of all of it") { pids.none? { |pid| Probe::Processes.alive?(pid) } && !File.exist?(folder) }
    ensure
      reader&.close
    end
  end

  # Of a puma.rb; it empties the logs of a server that runs.
  REDIRECTING = "stdout_redirect 'log/out', 'log/err'\nbind 'tcp://127.0.0.1:0'"

  test "what a server prints is told and not written into the logs that puma.rb names, which may be those of the user's own" do
    ServedApp.open(rackup: "run ->(*) { $stderr.puts('seen') || [200, {}, ['fine']] }", puma_rb: REDIRECTING) do |app|
      FileUtils.mkdir_p(File.join(app.folder, "log"))
      logs = %w[out err].map { |name| File.join(app.folder, "log", name).tap { |path| File.write(path, "kept\n") } }
      asked = ->(server) { Net::HTTP.get(URI(server.url)) }
      serve(app) do |server|
        assert_equal "fine", asked.call(server)
        wait_until("what it has printed") { server.log_tail.include?("seen") }
      end
      assert_equal %W[kept\n kept\n], logs.map { |path| File.read(path) }
      serve(app, bind: nil, &asked)
      wait_until("its own logs") { File.read(logs.last).include?("seen") }
    end
  end

  test "a server at the user's own address has the user's own pid file" do
    ServedApp.open(rackup: WITH_PID_FILE, puma_rb: "bind 'tcp://127.0.0.1:0'") do |app|
      FileUtils.mkdir_p(File.join(app.folder, "tmp/pids"))
      serve(app, bind: nil) { |server| assert_equal "tmp/pids/server.pid", Net::HTTP.get(URI(server.url)) }
    end
  end
end
