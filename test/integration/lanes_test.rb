# frozen_string_literal: true

require "test_helper"
require "json"
require "support/command_line"
require "support/served_app"

# What each thread of a real server did when.
class LanesOfAServerTest < TunerTest
  include PumaTuner
  include CommandLine

  time_limit 240

  MS = Units::NS_PER_MS

  # 30% of it computes, as in "Myth busters".
  RACKUP = <<~RUBY
    work = -> { (ends_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.003) && (nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < ends_s) }
    run ->(env) { 3.times { work.call; sleep(0.007) }; [200, {"content-type" => "text/plain"}, ["x"]] }
  RUBY

  # @yieldparam server [Host::ServerProcess]
  def observe(topology, rackup: RACKUP, lanes: true)
    ServedApp.open(rackup:) do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment)
      Host::ServerProcess.run(command, topology: Topology.parse(topology), measure: true) do |server|
        collector = Measure::Collector.new(server, command: command.to_s, lanes:)
        ledgers = Probe::Ledgers.of_run(server.directory)
        sleep 0.05 until ledgers.paths.size == server.topology.workers_count
        ServedApp.request(server.url[/\d+\z/].to_i, "/work", clients: 8, each: 5)
        collector.begin_window
        yield server
        return collector.end_window
      end
    end
  end

  # Each request has a connection of its own, so that each worker gets some.
  def load(server, for_s: 2.2, clients: 10)
    ends_s = Clock.now_s + for_s
    Array.new(clients) { Thread.new { Net::HTTP.get(URI("#{server.url}/work")) while Clock.now_s < ends_s } }.each(&:join)
  end

  def recording(observation) = Lanes::Recording.of(observation)

  # The ledger's budgets come from other code, and with the CPU clock.
  %w[1x5 1x3].each do |topology|
    test "at #{topology} lanes tell the same as the budgets of the window they are in" do
      observation = observe(topology) { |server| load(server) }
      process = observation.lanes.first
      pool = recording(observation).pool
      assert_equal Topology.parse(topology).threads_count, pool.size
      assert_equal [2_000 * MS], [process.duration_ns, *pool.map(&:duration_ns)].uniq
      budget = observation.threads.map(&:budget).reduce(:+)
      sums = recording(observation).sums
      whole_ns = sums.except("idle").values.sum
      shares = sums.transform_values { |ns| ns.fdiv(whole_ns) }
      assert_in_delta budget.share_ratio(:gvl_wait), shares["gvl_wait"], 0.08
      assert_in_delta budget.share_ratio(:sleep), shares["sleep"], 0.08
      # A look at a connection that took long waited for a core, without the GVL.
      assert_in_delta budget.share_ratio(:cpu) + budget.share_ratio(:preempted), shares["held"] + shares["compute"].to_f, 0.08
      assert_operator pool.sum { |lane| lane.works.size / 3 }, :>=, 0.4 * observation.requests_count
      wait = recording(observation).longest_wait
      # Somebody had it; what of the wait nobody did depends on how busy the machine is.
      assert_includes 1..wait.duration_ns, wait.holders.sum(&:last)
      assert_equal ["GET /work"], process.works
    end
  end

  test "more threads beside the same work wait longer for the GVL" do
    five, two = %w[1x5 1x2].map { |topology| recording(observe(topology) { |server| load(server) }).gvl_wait_ratio }
    assert_operator five, :>, 1.3 * two
  end

  test "each worker of a cluster has lanes of its own, by one clock" do
    observation = observe("2x2") { |server| load(server) }
    assert_equal [0, 1], observation.processes.filter_map(&:worker_index).sort
    assert_equal [0, 1], observation.lanes.map(&:worker_index).sort
    assert_equal 0, observation.lanes.map(&:from_ns).min
    assert_operator observation.lanes.map(&:from_ns).max, :<, 1_000 * MS
  end

  test "who does not ask for lanes gets none, and a server without requests meanwhile has none" do
    assert_nil observe("1x2", lanes: false) { |server| load(server, for_s: 0.2) }.lanes
    ServedApp.open(rackup: RACKUP) do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment)
      Host::ServerProcess.run(command, topology: Topology.parse("1x2"), measure: true) do |server|
        ledgers = Probe::Ledgers.of_run(server.directory)
        ledgers.order_lanes
        assert_empty ledgers.lanes
        load(server, for_s: 0.1, clients: 1)
        Process.kill(:KILL, server.serving_pids.first) # what it has left can be read
        assert_equal ["single"], ledgers.lanes.map { |process| process.worker_index ? "worker" : "single" }
      end
    end
  end

  test "measure --lanes keeps them, and lanes shows them in every format" do
    ServedApp.open(rackup: RACKUP) do |app|
      words = %w[measure --load --path /work --lanes --duration 2 --warmup 0.5 --connections 6 --settings 1x2 --output o.json config.ru]
      measured = puma_tuner(*words, folder: app.folder, environment: {"RACK_ENV" => "production"})
      assert_equal 0, measured.code, measured.err
      assert_match(/Pool threads could run and did nothing \(GVL wait\) for [\d.]+%/, measured.unwrapped)
      shown = puma_tuner("lanes", "o.json", folder: app.folder)
      assert_match(/did nothing for [\d.]+% of their time at 1x\d, [\d.]+% at 1x2/, shown.unwrapped)
      html = puma_tuner_in_fork("lanes", "o.json", "--beside", "o.json", "--format", "html", "--output", "out/lanes.html", folder: app.folder)
      refute_equal 0, html.code # there is no such folder
      html = puma_tuner_in_fork("lanes", "o.json", "--beside", "o.json", "--format", "html", "--output", "lanes.html", folder: app.folder)
      assert_equal 0, html.code, html.err
      assert_equal 4, File.read(File.join(app.folder, "lanes.html")).scan('class="lanes"').size
      %w[firefox perfetto json markdown].each do |format|
        result = puma_tuner_in_fork("lanes", "o.json", "--format", format, folder: app.folder)
        assert_equal 0, result.code, result.err
        JSON.parse(result.out) unless format == "markdown"
      end
      File.write(File.join(app.folder, "lanes.json"), puma_tuner_in_fork("lanes", "o.json", "--format", "json", folder: app.folder).out)
      assert_equal shown.out, puma_tuner_in_fork("lanes", "lanes.json", folder: app.folder).out
      assert_equal shown.out, puma_tuner_in_fork("report", "lanes.json", folder: app.folder).out
    end
  end
end
