# frozen_string_literal: true

require "test_helper"
require "json"
require "support/served_app"
require "support/command_line"

# The locks and pools of an app on a real Puma, as the command sees them.
class LocksOfAppsTest < TunerTest
  include PumaTuner
  include ServedApp::Observing
  include CommandLine

  HELD_S = 0.008

  # A lock held over a wait, a log in a file, and a pool of three.
  RACKUP = <<~RUBY
    require "connection_pool"
    require "logger"
    LOCK = Mutex.new
    LOG = Logger.new("app.log")
    POOL = ConnectionPool.new(size: 3, timeout: 20) { Object.new }
    run lambda { |env|
      case env["PATH_INFO"]
      when "/lock" then LOCK.synchronize { sleep #{HELD_S} }
      when "/log" then 3.times { LOG.info(Array.new(500) { |i| i.to_s }.join) }
      when "/pool" then POOL.with { sleep #{HELD_S} }
      end
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  time_limit 150

  # Its bundle has connection_pool.
  GEMFILE = ServedApp::RAILS

  # @return [Probe::Observation] of 60 requests to each path, from as many clients as threads
  def observe(topology)
    ServedApp.open(rackup: RACKUP) do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment(gemfile: GEMFILE))
      Host::ServerProcess.run(command, topology: Topology.parse(topology), measure: true, locks: true) do |server|
        collector = Measure::Collector.new(server, command: command.to_s)
        collector.begin_window
        %w[/lock /log /pool].each { |path| ServedApp.request(server.url[/\d+\z/].to_i, path, clients: 10, each: 6) }
        return observation_of(180, collector)
      end
    end
  end

  # @return [Array<Array(String, Integer)>] of all requests of the path for which there is a trace
  def traces(observation, path)
    observation.endpoints.find { |endpoint| endpoint.name == "GET #{path}" }.traces.map { |trace| trace.steps.each_slice(2).to_a }
  end

  def pairs_of(lock, steps) = steps.filter_map { |kind, number| kind if number == lock.id && %w[acquire release].include?(kind) }.each_slice(2).to_a

  %w[1x5 2x5].each do |topology|
    test "an app's mutex, its log and its pool are told apart and counted, with #{topology}" do
      observation = observe(topology)
      mutex, *others = observation.locks.select { |lock| lock.kind == "mutex" && lock.place.start_with?("config.ru:") }
      assert_empty others, "it is one lock, in however many workers"
      assert_equal [60, 1, "Thread::Mutex"], [mutex.holds_count, mutex.size, mutex.class_name]
      assert_operator mutex.hold_ns, :>=, 60 * 0.99 * HELD_S * 1e9
      assert_operator mutex.waits_count, :>=, 1
      assert_includes 2..Topology.parse(topology).slots_count, mutex.threads_count
      traces(observation, "/lock").each { |steps| assert_equal [%w[acquire release]], pairs_of(mutex, steps), steps.inspect }
      waited = traces(observation, "/lock").count { |steps| steps[steps.index(["acquire", mutex.id]) + 1].first == "lock" }
      assert_equal mutex.waits_count, waited, "the wait for it follows at once"

      pool = observation.locks.find { |lock| lock.kind == "pool" }
      assert_equal [3, 60, "ConnectionPool::TimedStack"], [pool.size, pool.holds_count, pool.class_name]
      assert_match(/\Aconfig.ru:\d+ in /, pool.place)
      assert_operator pool.hold_ns, :>=, 60 * 0.99 * HELD_S * 1e9
      traces(observation, "/pool").each { |steps| assert_equal [%w[acquire release]], pairs_of(pool, steps), steps.inspect }

      log = observation.locks.find { |lock| lock.place.match?(/\Alog_device\.rb:\d+ in Logger::LogDevice#write\z/) }
      assert_equal ["monitor", 180], [log.kind, log.holds_count]
      traces(observation, "/log").each { |steps| assert_equal [%w[acquire release]] * 3, pairs_of(log, steps), steps.inspect }

      assert_equal observation.locks.map(&:id).uniq, observation.locks.map(&:id)
      assert_operator observation.probe.lock_pairs_count, :>=, 300
      assert_operator observation.probe.cost_per_lock_pair_ns, :>, 0
      assert_equal observation, Document.parse(Document.dump(observation), "it", [:observation])
    end
  end

  test "under our own load locks are watched, unless --no-locks says otherwise" do
    {[] => true, ["--no-locks"] => false}.each do |words, watched|
      ServedApp.open(rackup: 'require "monitor"; M = Monitor.new; run ->(env) { M.synchronize { sleep 0.001 }; [200, {}, ["x"]] }') do |app|
        result = puma_tuner("measure", "--load", "--settings", "none", "--duration", "0.5", "--warmup", "0.2", "--verbose", "--output", "it.json", *words, "config.ru", folder: app.folder)
        assert_equal 0, result.code, result.err
        observation = JSON.parse(File.read(File.join(app.folder, "it.json")))
        assert_equal watched, !observation["locks"].nil?
        assert_equal watched, result.unwrapped.include?("watched locks"), result.out
        assert_equal watched, observation["endpoints"].first["traces"].first["steps"].include?("acquire")
      end
    end
  end

  test "around the user's own traffic they are watched when --locks says so" do
    {[] => false, ["--locks"] => true}.each do |words, watched|
      ServedApp.open(rackup: "LOCK = Mutex.new; run ->(env) { LOCK.synchronize { sleep 0.001 }; [200, {}, ['x']] }") do |app|
        port = TCPServer.open("127.0.0.1", 0) { |server| server.local_address.ip_port }
        err_path = File.join(app.folder, "err.log")
        bundle = app.environment.slice("PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH").map { |pair| pair.join("=") }
        pid = start_puma_tuner("measure", *words, "--output", "it.json", "--", "env", *bundle, "bundle", "exec", "puma", "-b",
          "tcp://127.0.0.1:#{port}", chdir: app.folder, out: File::NULL, err: err_path)
        wait_until("the measurement begins") { File.read(err_path).include?("until Ctrl-C") }
        ServedApp.request(port, "/", clients: 2, each: 5)
        Process.kill(:INT, pid)
        assert_equal 0, Process.wait2(pid).last.exitstatus, File.read(err_path)
        assert_equal watched, !JSON.parse(File.read(File.join(app.folder, "it.json")))["locks"].nil?
      end
    end
  end
end
