# frozen_string_literal: true

require "test_helper"
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

  test "a server at the user's own address has the user's own pid file" do
    ServedApp.open(rackup: WITH_PID_FILE, puma_rb: "bind 'tcp://127.0.0.1:0'") do |app|
      FileUtils.mkdir_p(File.join(app.folder, "tmp/pids"))
      serve(app, bind: nil) { |server| assert_equal "tmp/pids/server.pid", Net::HTTP.get(URI(server.url)) }
    end
  end
end
