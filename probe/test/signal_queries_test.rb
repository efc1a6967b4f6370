# frozen_string_literal: true

require "test_helper"
require "net/http"
require "tmpdir"

# Servers that are asked while they run.
class SignalQueriesTest < TunerTest
  kind :integration

  include PumaTuner

  APP = File.expand_path("../../test/fixtures/prove/config.ru", __dir__)

  def serve(topology: "1x2")
    Host::ServerProcess.run(Host::Command.of_rackup(APP), topology: Topology.parse(topology), meter: true) do |server|
      yield server, Host::SignalQuery.new(server.directory)
    end
  end

  test "a server tells its gauges and facts while it serves" do
    serve do |server, meter|
      first = meter.call("gauges", server.pids).fetch(server.pids.first)
      second = meter.call("gauges", server.pids).fetch(server.pids.first)
      assert_operator second[:allocated_count], :>, first[:allocated_count]
      assert_operator first[:heap_pages_count], :>, 0
      assert_equal RUBY_VERSION, meter.call("fingerprint", server.pids).values.first.fetch([:ruby, nil])[/\d+\.\d+\.\d+/]
    end
  end

  test "every worker answers for itself" do
    serve(topology: "2x1") do |server, meter|
      answers = meter.call("gauges", server.serving_pids)
      assert_equal 2, answers.size
      assert_equal server.serving_pids.sort, answers.keys.sort
    end
  end

  test "a query leaves no thread behind" do
    serve do |server, meter|
      threads = -> { Dir["/proc/#{server.pids.first}/task/*"].size }
      before = threads.call
      5.times { meter.call("gauges", server.pids) }
      wait_until("the threads have ended") { threads.call <= before + 1 }
      assert_predicate server, :alive?
    end
  end

  test "a process that does not expect the signal is not sent any" do
    pid = Process.spawn("sleep", "30")
    Dir.mktmpdir do |folder|
      Dir.mkdir(File.join(folder, Probe::SignalQueries::FOLDER))
      assert_empty Host::SignalQuery.new(folder).call("gauges", [pid])
      assert Probe::Processes.alive?(pid)
    end
  ensure
    Process.kill(:KILL, pid)
    Process.wait(pid)
  end

  # As on macOS, where nothing tells which signals a process expects, and who does not expect this one ignores it.
  test "where the kernel does not tell who expects the signal, it is sent where that harms nobody, and else not" do
    serve do |server|
      asked = lambda do |harmless|
        Host::SignalQuery.new(server.directory, told: false, harmless:).call("fingerprint", server.serving_pids)
      end
      assert_equal RUBY_VERSION, asked.call(true).values.first.fetch([:ruby, nil])[/\d+\.\d+\.\d+/]
      assert_empty asked.call(false)
    end
  end

  test "a query that fails is reported, and the server goes on" do
    serve do |server, meter|
      assert_match(/KeyError/, assert_raises(InvalidMeasurement) { meter.call("nonsense", server.pids) }.message)
      assert_equal 1, meter.call("gauges", server.pids).size
    end
  end

  # @return [Boolean] whether all threads sleep
  def at_rest?(pid) = Dir["/proc/#{pid}/task/*/stat"].all? { |path| Probe::Processes.read(path)[/\) (\S)/, 1] == "S" }

  test "the probe can be put in late, and sees every request from then on" do
    serve(topology: "1x3") do |server, meter|
      5.times { Net::HTTP.get(URI(server.url)) }
      observation = Measure::LateWindow.call(server, meter) do
        20.times { Net::HTTP.get(URI(server.url)) }
        wait_until("the record of the last request, which its client does not wait for") { at_rest?(server.pids.first) }
      end
      assert_equal 20, observation.requests_count
      assert_equal 0, observation.budget.residual_ns
    end
  end
end
