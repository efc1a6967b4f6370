# frozen_string_literal: true

require "test_helper"
require "json"
require "support/served_app"

# What a cluster's processes recorded is one observation, whatever becomes of the processes.
class ClusterTest < TunerTest
  include PumaTuner
  include ServedApp::Observing

  # Puma looks after its workers every five seconds, when it has missed their end.
  time_limit 120

  # @yieldparam server [Host::ServerProcess]
  # @yieldparam collector [Measure::Collector] with its window begun
  def cluster(*options, topology: "2x2", rackup: ServedApp::WORKING_APP, puma_rb: nil, environment: {}, gemfile: ServedApp::PUMAS.fetch("puma_8_0"), meter: false)
    ServedApp.open(rackup:, puma_rb:) do |app|
      command = Host::Command.new(words: ["bundle", "exec", "puma", *options], directory: app.folder, environment: app.environment(gemfile:).merge(environment))
      Host::ServerProcess.run(command, topology: Topology.parse(topology), measure: true, meter:) do |server|
        collector = Measure::Collector.new(server, command: command.to_s)
        collector.begin_window
        yield server, collector
      end
    end
  end

  def request(server, path = "/work", **options) = ServedApp.request(server.url[/\d+\z/].to_i, path, **options)

  test "a killed worker's figures stay, and its successor's are added" do
    cluster do |server, collector|
      before = server.serving_pids
      request(server)
      observation_of(90, collector)
      Process.kill(:KILL, before.first)
      wait_until("a new worker", limit_s: 40) { (server.serving_pids - before).any? }
      request(server)
      observation = observation_of(180, collector)
      assert_equal 180, observation.requests_count
      assert_equal 180, observation.threads.sum(&:requests_count)
      assert_operator observation.threads.map { |thread| [thread.worker_index, thread.name] }.uniq.size, :<=, 4
    end
  end

  test "a recording says which settings and gems were in force, and what its processes tell of their heaps" do
    environment = {"RUBY_THREAD_TIMESLICE" => "50", "SOMETHING" => "of mine"}
    cluster(environment:, puma_rb: "max_io_threads 3\n", meter: true) do |server, collector|
      request(server)
      observation = observation_of(90, collector)
      observation = PumaTuner::Probe::Observation.from_document(JSON.parse(PumaTuner::Document.dump(observation)))
      in_force = observation.fingerprint
      assert_equal ["3", "50", "8.0.2", "8.0.2"],
        in_force.values_at([:puma, "max_io_threads"], [:env, "RUBY_THREAD_TIMESLICE"], [:gem, "puma"], [:puma, "version"])
      refute_includes in_force, [:env, "SOMETHING"]
      gauges = observation.processes.select { |process| process.role == "worker" }.map(&:gauges)
      assert_equal 2, gauges.size
      assert(gauges.all? { |one| one.fetch("live_count").positive? })
    end
  end

  test "a recording of a server that can't be asked knows Puma's settings alone" do
    cluster do |server, collector|
      request(server)
      observation = observation_of(90, collector)
      assert_equal "8.0.2", observation.fingerprint[[:puma, "version"]]
      refute(observation.fingerprint.any? { |(kind, _), _| kind == :gem })
      assert(observation.processes.all? { |process| process.gauges.empty? })
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
      observation_of(20, collector)
      Process.kill(:KILL, server.serving_pids.first)
      clients.join(20)
      observation = collector.end_window
      assert_operator observation.requests_count, :>=, 20
      assert_equal observation.requests_count, observation.endpoints.sum { |endpoint| endpoint.latency.count }
      assert_equal 0, observation.endpoints.sum(&:unaccounted_count)
    end
  end

  test "a process that was given the id of a worker that has ended is none of the server's" do
    cluster do |server, _|
      File.write(File.join(server.directory, "#{Probe::Launch::WORKER}#{Process.pid}-1-1"), "")
      refute_includes server.serving_pids, Process.pid
      assert_equal 2, server.serving_pids.size
    end
  end

  test "a phased restart loses nothing" do
    cluster(puma_rb: "preload_app! false\n") do |server, collector|
      before = server.serving_pids
      request(server)
      Process.kill(:USR1, server.announcement["pid"])
      wait_until("a new generation of workers", limit_s: 40) { server.serving_pids.size == 2 && (server.serving_pids & before).empty? }
      request(server, clients: 3, each: 10)
      assert_equal 120, observation_of(120, collector).requests_count
    end
  end

  test "workers forked from a worker record on their own" do
    cluster("--fork-worker") do |server, collector|
      request(server)
      first_pids = worker_pids(server)
      Process.kill(:URG, server.announcement["pid"]) # refork
      wait_until("a worker that was forked from worker 0", limit_s: 40) { (worker_pids(server) - first_pids).any? && (worker_pids(server) & first_pids).one? }
      request(server)
      observation = observation_of(180, collector)
      assert_equal 180, observation.requests_count
      assert_operator observation.processes.count { |process| process.role == "worker" }, :>=, 2
    end
  end

  # @return [Array<Integer>] of all workers, whoever they were forked from
  def worker_pids(server)
    Probe::Processes.tree_of(server.announcement["pid"]).select { |pid| Probe::Processes.command_line(pid).start_with?("puma: cluster worker") }
  end

  # With the methods as each Puma has them some of these stops hang on a busy machine (Probe::Puma::Stopping).
  ServedApp::PUMAS.each do |name, gemfile|
    test "they stop when they are told to, on #{name}" do
      3.times do
        took_s = nil
        cluster(gemfile:) do |server, _|
          request(server, each: 2)
          began_s = monotonic_s
          server.terminate
          took_s = monotonic_s - began_s
        end
        assert_operator took_s, :<, Host::ServerProcess::STOP_LIMIT_S
      end
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
      snapshot = nil
      wait_until("the record of 80 requests") do
        snapshot = Document.parse(Net::HTTP.get(URI("#{server.url}/snapshot")), "snapshot", [:observation])
        snapshot.endpoints.find { |endpoint| endpoint.name == "GET /" }&.requests_count == 80
      end
      assert_equal [0, 1], snapshot.processes.map(&:worker_index).sort
      assert_equal "2x2", snapshot.topology.to_s
    end
  end

  test "a proxy's stamp tells how long a request was under way before Puma had it" do
    cluster(topology: "1x2") do |server, collector|
      began_s = monotonic_s
      # As the client has it: from the stamp to the response.
      under_way_s = Net::HTTP.start("127.0.0.1", server.url[/\d+\z/].to_i) do |http|
        Array.new(5) do
          stamp_s = (Time.now.to_f - 1).floor(3)
          http.get("/sleep", {"X-Request-Start" => format("t=%.3f", stamp_s)})
          Time.now.to_f - stamp_s
        end
      end
      budget = observation_of(5, collector).budget
      assert_includes 5.0..under_way_s.sum, budget.before_puma_ns / 1e9
      assert_operator budget.wall_ns / 1e9, :<, monotonic_s - began_s, "it is no part of the wall time"
    end
  end

  test "without the extension's clock wall time and queue are left, and the reason is given" do
    cluster(topology: "1x2", environment: {"RUBY_MN_THREADS" => "1"}) do |server, collector|
      request(server)
      sleep 1.1 # the ledger is written once a second
      request(server, clients: 1, each: 2)
      observation = observation_of(90, collector)
      assert_operator observation.budget.wall_ns, :>, 0
      refute_nil observation.budget.queue_ns
      assert_equal [nil], observation.budget.to_h.values_at(:cpu_ns, :gvl_wait_ns, :io_ns, :lock_ns, :sleep_ns, :gc_ns, :preempted_ns).uniq
      assert_match(/RUBY_MN_THREADS/, observation.why_no_extension)
      assert_operator observation.endpoints.first.p99_ns, :>, 0
      assert_equal Document.dump(observation), Document.dump(Document.parse(Document.dump(observation), "again", [:observation]))
    end
  end

  test "threads' waits for a core, by the kernel's count, are as long as the budget's at least" do
    cluster(topology: "1x2") do |server, collector|
      stolen_before_ns = Host::MachineLoad.read[:stolen_ns].to_i
      request(server)
      threads = observation_of(90, collector).threads
      # What the hypervisor took is no wait by the kernel's count.
      stolen_ns = Host::MachineLoad.read[:stolen_ns].to_i - stolen_before_ns
      threads.each { |thread| assert_operator thread.run_queue_wait_ns + stolen_ns + 3_000_000, :>=, thread.budget.preempted_ns, thread.name }
    end
  end
end
