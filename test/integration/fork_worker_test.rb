# frozen_string_literal: true

require "test_helper"
require "net/http"
require "support/served_app"

# With `fork_worker` most workers are children of the first one, and not of the master.
class ForkWorkerTest < TunerTest
  include PumaTuner

  time_limit 60

  WORKERS_COUNT = 3

  # Each worker tells of itself, burns CPU of its own, holds memory of its own, and has a child that is no worker.
  RACKUP = <<~RUBY
    run lambda { |env|
      case env["PATH_INFO"]
      when "/burn" then 200_000.times { |i| i.to_s }
      when "/hold" then $held ||= "x" * 30_000_000
      when "/child" then $child ||= fork { sleep }
      end
      sleep 0.02 # so that no worker takes all connections
      [200, {"content-type" => "text/plain"}, ["\#{Process.pid} \#{Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)} \#{GC.stat(:total_allocated_objects)}"]]
    }
  RUBY

  RENAMED = "before_worker_boot { $0 = \"the app's own title\" }\n"

  def cluster(*options, puma_rb: nil, gemfile: ServedApp::PUMAS.fetch("puma_8_0"))
    ServedApp.open(rackup: RACKUP, puma_rb:) do |app|
      command = Host::Command.new(words: ["bundle", "exec", "puma", *options], directory: app.folder, environment: app.environment(gemfile:))
      Host::ServerProcess.run(command, topology: Topology.parse("#{WORKERS_COUNT}x1"), meter: true) { |server| yield server }
    end
  end

  # Asks until each worker has answered.
  # @return [Hash{Integer => Array(Integer, Integer)}] pid to the CPU time and the objects that it tells of itself
  def ask_all(server, path)
    found = {}
    wait_until("a response of each worker", limit_s: 30) do
      clients = Array.new(6) { Thread.new { Net::HTTP.get(URI("#{server.url}#{path}")).split.map(&:to_i) } }
      clients.each { |client| client.value.then { |pid, *told| found[pid] = told } }
      found.size >= WORKERS_COUNT
    end
    found
  end

  def pss_bytes(pid) = File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s*(\d+) kB/, 1].to_i * 1024

  # What each worker tells of itself must all be in it.
  def assert_all_cpu_counts(server)
    meter = Host::SignalQuery.new(server.directory)
    before = Host::Readings.take(server, meter)
    first = ask_all(server, "/")
    5.times { ask_all(server, "/burn") }
    last = ask_all(server, "/")
    spent = Host::Readings.take(server, meter) - before
    cpu_ns, allocated_count = last.map { |pid, told| told.zip(first.fetch(pid)).map { |now, then_| now - then_ } }.transpose.map(&:sum)
    assert_operator cpu_ns, :>, 0
    assert_operator spent.cpu_ns, :>=, cpu_ns
    assert_operator spent.allocated_count, :>=, allocated_count
  end

  def assert_all_memory_counts(server)
    pids = ask_all(server, "/hold").keys
    _, counted_bytes, = Prove::MemoryCurve.new(server).points.first
    own_bytes = pids.sum { |pid| pss_bytes(pid) }
    assert_operator own_bytes, :>, 30_000_000 * WORKERS_COUNT
    assert_operator counted_bytes, :>=, own_bytes - 5_000_000
  end

  def assert_all_workers_count(server)
    assert_equal ask_all(server, "/").keys.sort, server.serving_pids
    assert_all_cpu_counts(server)
    assert_all_memory_counts(server)
  end

  test "CPU and memory of all workers count, as the master's children" do
    cluster { |server| assert_all_workers_count(server) }
  end

  ServedApp::PUMAS.each do |name, gemfile|
    test "CPU and memory of all workers count, as children of the first, with #{name}" do
      cluster("--fork-worker", gemfile:) { |server| assert_all_workers_count(server) }
    end
  end

  test "they count with titles of the app's own, and what they fork is no worker" do
    cluster("--fork-worker", puma_rb: RENAMED) do |server|
      ask_all(server, "/child")
      assert_all_workers_count(server)
    end
  end

  test "the probe that is put in late sees all of them" do
    cluster("--fork-worker") do |server|
      meter = Host::SignalQuery.new(server.directory)
      observation = Measure::LateWindow.call(server, meter) do
        ask_all(server, "/burn")
        sleep 0.05 # the client has its response before the server has recorded it
      end
      assert_equal server.serving_pids, observation.processes.select { |process| process.role == "worker" }.map(&:pid).sort
    end
  end

  test "after a refork the new workers count, and what the old ones had used is unknown" do
    cluster("--fork-worker") do |server|
      meter = Host::SignalQuery.new(server.directory)
      before = server.serving_pids
      reading = Host::Readings.take(server, meter)
      Process.kill(:URG, server.announcement["pid"])
      wait_until("a new generation of workers", limit_s: 40) { server.serving_pids.size == WORKERS_COUNT && (server.serving_pids & before).size == 1 }
      assert_nil (Host::Readings.take(server, meter) - reading).cpu_ns
      assert_equal ask_all(server, "/").keys.sort, server.serving_pids
    end
  end
end
