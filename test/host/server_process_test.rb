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

  test "a server at the user's own address has the user's own pid file" do
    ServedApp.open(rackup: WITH_PID_FILE, puma_rb: "bind 'tcp://127.0.0.1:0'") do |app|
      FileUtils.mkdir_p(File.join(app.folder, "tmp/pids"))
      serve(app, bind: nil) { |server| assert_equal "tmp/pids/server.pid", Net::HTTP.get(URI(server.url)) }
    end
  end
end
