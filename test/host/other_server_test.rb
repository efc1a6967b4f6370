# frozen_string_literal: true

require "test_helper"
require "net/http"

class OtherServerTest < TunerTest
  kind :integration

  include PumaTuner

  SERVER = File.expand_path("../fixtures/prove/server.rb", __dir__)

  def command(*words) = Host::Command.of_words(words)

  test "any command that listens where it is told to" do
    pid = Host::OtherServer.run(command(RbConfig.ruby, SERVER)) do |server|
      assert_equal "fine", Net::HTTP.get(URI(server.url))
      assert_operator server.boot_ns, :>, 0
      assert_nil server.topology
      server.pids.first
    end
    refute Probe::Processes.alive?(pid)
  end

  test "its processes are all that it started" do
    Host::OtherServer.run(command("sh", "-c", "#{RbConfig.ruby} #{SERVER} {port}; true")) do |server|
      assert_operator server.pids.size, :>=, 2
      assert_operator server.pids.sum { |pid| Probe::Processes.cpu_ns(pid) }, :>, 0
    end
  end

  test "one that listens nowhere is told so, with what to do" do
    error = assert_raises(ServerFailed) { Host::OtherServer.run(command("sleep", "30"), boot_limit_s: 0.3) { flunk } }
    assert_match(/did not come up within 0.3 s.*\{port\} or \$PORT/m, error.message)
  end

  test "one that ends at once is told with its last words" do
    error = assert_raises(ServerFailed) { Host::OtherServer.run(command("sh", "-c", "echo no such luck; exit 3")) { flunk } }
    assert_match(/no such luck/, error.message)
  end
end
