# frozen_string_literal: true

require "test_helper"
require "support/served_app"

# What a cluster's processes recorded is one observation, whatever becomes of the processes.
class ClusterTest < TunerTest
  include PumaTuner

  # Puma looks after its workers every five seconds, when it has missed their end.
  time_limit 120

  # @yieldparam server [Host::ServerProcess]
  # @yieldparam collector [Measure::Collector] with its window begun
  def cluster(*options, topology: "2x2", rackup: ServedApp::WORKING_APP, puma_rb: nil, environment: {})
    ServedApp.open(rackup:, puma_rb:) do |app|
      command = Host::Command.new(words: ["bundle", "exec", "puma", *options], directory: app.folder, environment: app.environment.merge(environment))
      Host::ServerProcess.run(command, topology: Topology.parse(topology), measure: true) do |server|
        collector = Measure::Collector.new(server, command: command.to_s)
        collector.begin_window
        yield server, collector
      end
    end
  end

  def request(server, path = "/work", **options)
    codes = ServedApp.request(server.url[/\d+\z/].to_i, path, **options)
    sleep 0.05 # the client has its answer before the server has recorded it
    codes
  end

  def eventually(what, limit_s: 40)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + limit_s
    until yield
      flunk "#{what} did not happen within #{limit_s} s" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.05
    end
  end

  test "what a killed worker had recorded stays, and its successor's is added" do
    cluster do |server, collector|
      before = server.serving_pids
      request(server)
      Process.kill(:KILL, before.first)
      eventually("a new worker") { (server.serving_pids - before).any? }
      sleep 0.5
      request(server)
      observation = collector.end_window
      assert_equal 180, observation.requests_count
      assert_equal 180, observation.threads.sum(&:requests_count)
      assert_operator observation.threads.map { |thread| [thread.worker_index, thread.name] }.uniq.size, :<=, 4
    end
  end

  test "a worker killed in the middle of its requests leaves those that had ended" do
    cluster do |server, collector|
      clients = Thread.new do
        request(server, clients: 4, each: 200)
      rescue SystemCallError, IOError
        nil # it was killed under us
      end
      clients.report_on_exception = false
      sleep 0.3
      Process.kill(:KILL, server.serving_pids.first)
      clients.join(20)
      observation = collector.end_window
      assert_operator observation.requests_count, :>=, 20
      assert_equal observation.requests_count, observation.endpoints.sum { |endpoint| endpoint.latency.count }
      assert_equal 0, observation.endpoints.sum(&:unclosed_count)
    end
  end

  test "a phased restart loses nothing" do
    cluster(puma_rb: "preload_app! false\n") do |server, collector|
      before = server.serving_pids
      request(server)
      Process.kill(:USR1, server.announcement["pid"])
      eventually("a new generation of workers") { server.serving_pids.size == 2 && (server.serving_pids & before).empty? }
      eventually("all workers serve") { request(server, clients: 2, each: 1).size == 2 }
      count = collector.end_window.requests_count
      assert_operator count, :>=, 90
      request(server, clients: 3, each: 10)
      assert_equal count + 30, collector.end_window.requests_count
    end
  end

  test "workers forked from a worker record on their own" do
    cluster("--fork-worker") do |server, collector|
      request(server)
      Process.kill(:URG, server.announcement["pid"]) # refork
      sleep 2
      request(server)
      observation = collector.end_window
      assert_equal 180, observation.requests_count
      assert_operator observation.processes.count { |process| process.role == "worker" }, :>=, 2
    end
  end

  test "any worker can tell of all of them" do
    rackup = <<~RUBY
      app = proc { |env|
        next [200, {}, [PumaTuner::Document.dump(PumaTuner.snapshot)]] if env["PATH_INFO"] == "/snapshot"
        sleep 0.002
        [200, {}, ["fine"]]
      }
      run app
    RUBY
    cluster(rackup:) do |server, _|
      request(server, "/", clients: 8, each: 10)
      answer = Net::HTTP.get(URI("#{server.url}/snapshot"))
      snapshot = Document.parse(answer, "snapshot", [:observation])
      assert_equal 80, snapshot.endpoints.find { |endpoint| endpoint.name == "GET /" }.requests_count
      assert_equal [0, 1], snapshot.processes.map(&:worker_index).sort
      assert_equal "2x2", snapshot.topology.to_s
    end
  end

  test "a proxy's stamp tells how long a request was under way before Puma had it" do
    cluster(topology: "1x2") do |server, collector|
      Net::HTTP.start("127.0.0.1", server.url[/\d+\z/].to_i) do |http|
        5.times { http.get("/sleep", {"X-Request-Start" => format("t=%.3f", Time.now.to_f - 0.2)}) }
      end
      sleep 0.05
      budget = collector.end_window.budget
      assert_in_delta 200, budget.before_puma_ns / 5e6, 60
      assert_operator budget.wall_ns / 5e6, :<, 100, "it is no part of the wall time"
    end
  end

  test "without the extension's clock wall time and queue are left, and the reason is given" do
    cluster(topology: "1x2", environment: {"RUBY_MN_THREADS" => "1"}) do |server, collector|
      request(server)
      sleep 1.1 # the ledger is written once a second
      request(server, clients: 1, each: 2)
      observation = collector.end_window
      assert_operator observation.requests_count, :>=, 90
      assert_operator observation.budget.wall_ns, :>, 0
      refute_nil observation.budget.queue_ns
      assert_equal [nil], observation.budget.to_h.values_at(:cpu_ns, :gvl_wait_ns, :io_ns, :lock_ns, :sleep_ns, :gc_ns, :preempted_ns).uniq
      assert_match(/RUBY_MN_THREADS/, observation.unknown.values.join)
      assert_operator observation.endpoints.first.p99_ns, :>, 0
      assert_equal Document.dump(observation), Document.dump(Document.parse(Document.dump(observation), "again", [:observation]))
    end
  end

  test "threads' waits for a core, by the kernel's count, are as long as the budget's at least" do
    cluster(topology: "1x2") do |server, collector|
      request(server)
      collector.end_window.threads.each do |thread|
        assert_operator thread.run_queue_wait_ns + 3_000_000, :>=, thread.budget.preempted_ns, thread.name
      end
    end
  end
end
