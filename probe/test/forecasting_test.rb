# frozen_string_literal: true

require "support/namespace"
require "support/watched_script"
require "test_helper"
require "tmpdir"

# What a server's lines recommend, and the process beside it that forecasts it: whatever becomes of that process, the
# lines go on by the rule of thumb.
class ForecastingTest < TunerTest
  include Namespace

  Probe = PumaTuner::Probe
  Recommendation = Probe::Recommendation

  def setup
    @folder = Dir.mktmpdir
  end

  def teardown
    Process.kill(:KILL, -@leader.pid) if @leader
    @leader&.close
    FileUtils.rm_rf(@folder)
  rescue Errno::ESRCH
    FileUtils.rm_rf(@folder)
  end

  def found(**fields)
    Recommendation.new(topology: "2x3", today: "1x5", metric: "throughput", ratio: [1.68, 1.64, 1.72], requests_count: 300,
      why_not: nil, detail: nil, made_at_s: Time.now.to_f, **fields)
  end

  # @return [Array<String>] what a console prints below its threads' lines
  def lines_below(recommendation)
    recommendation&.write(@folder)
    budget = Probe::Budget.of(cpu: 600, gc: 100, io: 300, gvl_wait: 0, lock: 0, sleep: 0, preempted: 0, wall: 1_000)
    Probe::Console.new(ledger_path: File.join(@folder, "1-1.ledger"), interval_s: 1, out: nil).send(:recommended, budget)
  end

  test "a forecast is told with what it rests on, in the form of the rule of thumb's line" do
    assert_equal ["Recommended config: puma -t 3:3 -w 2",
      "  by a forecast from 300 recorded requests: throughput 1.68x (1.64 to 1.72) of today's 1x5"], lines_below(found)
    assert_equal ["Recommended config: puma -t 5:5", "  by a forecast from 300 recorded requests: nothing is surely better"],
      lines_below(found(topology: "1x5", ratio: nil))
    assert_match(/: 1x5 is overloaded\z/, lines_below(found(ratio: nil)).last)
    assert_match(/of today's 1x5; proven to be worse: 2x5, 1x8\z/, lines_below(found(withheld: %w[2x5 1x8])).last)
  end

  test "without one the line is the rule of thumb's, and says so and why" do
    {nil => "there is no forecast yet",
     Recommendation.none("few_requests", requests_count: 12) => "a forecast needs more requests than 12",
     Recommendation.none("no_engine") => "for a forecast, install the gem puma_tuner #{PumaTuner::VERSION} here, in or outside of the app's bundle",
     Recommendation.none("not_reproduced") => "no forecast reproduces what was recorded here; `puma_tuner tune` measures settings",
     Recommendation.none("no_steady_state") => "no setting that was forecast bears this load",
     Recommendation.none("failed", detail: "no extension") => "no forecast can be made: no extension",
     found(made_at_s: Time.now.to_f - 2_520) => "the last forecast is 42 min old"}.each do |recommendation, why|
      assert_equal ["Recommended config: puma -t 1:1", "  by the rule of thumb, 100 / CPU %; #{why}"], lines_below(recommendation)
    end
  end

  test "a pool of connections that requests wait for is not answered with threads by the rule of thumb" do
    lines = lines_below(Recommendation.none("pool", requests_count: 300))
    assert_match(/\ARecommended config: as it is, and more places in the pool/, lines.first)
    refute_match(/puma -t|rule of thumb/, lines.join)
    assert_match(/puma -t/, lines_below(Recommendation.none("pool").with(made_at_s: Time.now.to_f - 2_520)).first, "an old one says nothing of today")
  end

  # Of an app with a pool of Active Record's that has so many places.
  def lines_in_app(places_count, recommendation)
    recommendation.write(@folder)
    script = <<~RUBY
      require "active_record"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:", pool: #{places_count})
      budget = PumaTuner::Probe::Budget.of(cpu: 100, gc: 0, io: 700, gvl_wait: 0, lock: 0, sleep: 0, preempted: 0, wall: 800)
      puts PumaTuner::Probe::Console.new(ledger_path: #{File.join(@folder, "1-1.ledger").dump}, interval_s: 1, out: nil).send(:recommended, budget)
    RUBY
    out, status = Open3.capture2e(WatchedScript.environment(WatchedScript::LIBRARIES), RbConfig.ruby, "-rbundler/setup", "-rpuma_tuner/probe", "-e", script, unsetenv_others: true)
    assert_predicate status, :success?, out
    out.lines(chomp: true)
  end

  test "more threads than Active Record's pool has places are told with how many they need, though no lock was watched" do
    few = "  Active Record's pool has %d in each process: these threads need %d, in config/database.yml, or requests wait for a connection"
    assert_equal format(few.sub("%d", "1 place"), 3), lines_in_app(1, found).last
    assert_equal 2, lines_in_app(3, found).size
    assert_equal format(few.sub("%d", "5 places"), 8), lines_in_app(5, Recommendation.none("not_reproduced")).last, "by the rule of thumb"
  end

  test "a file that is cut short, foreign, huge or not to be read is as if there were none" do
    path = File.join(@folder, Recommendation::FILE)
    ["", "{", "[]", "null", "{}", '{"topology":"2x3"}', "\xff\xfe", "x" * 1_000_000].each do |content|
      File.binwrite(path, content)
      assert_match(/there is no forecast yet/, lines_below(nil).last, content[0, 20])
    end
    [{today: "5"}, {today: nil}, {topology: "many"}, {ratio: [1.5]}].each do |fields|
      assert_match(/there is no forecast yet/, lines_below(found(**fields)).last, fields.to_s)
    end
    File.unlink(path)
    Dir.mkdir(path)
    assert_match(/there is no forecast yet/, lines_below(nil).last)
  end

  test "a recommendation outlives its file" do
    found.write(@folder)
    assert_equal 2, Recommendation.read(@folder).settings.workers_count
  end

  test "lines of a cluster name the worker, those of a single process have the known form" do
    thread = PumaTuner::Probe::ThreadObservation.new(worker_index: nil, name: "puma srv tp 001", requests_count: 1, run_queue_wait_ns: nil,
      budget: Probe::Budget.of(cpu: 651, io: 337, gc: 11, gvl_wait: 22, lock: 0, sleep: 0, preempted: 0, wall: 1_000))
    lines = [nil, 3].map do |worker_index|
      Probe::Console.new(ledger_path: "#{@folder}/1-1.ledger", interval_s: 1, out: nil, worker_index:).send(:lines_of, [thread]).first
    end
    form = "puma srv tp 001: cpu: 65.1% io: 33.7% gc: 1.1% gvlwait: 2.2%"
    assert_equal [form, "worker 3 #{form}"], lines
  end

  test "the engine is found beside the probe, whatever the app's bundle has" do
    assert_path_exists File.join(Probe::Forecasting.engine_folder, "puma_tuner/server_forecast.rb")
  end

  # A leader without Puma, whose sidecar is tried again and again.
  LEADER = <<~RUBY
    $stdout.sync = true
    leader = {leader_pid: Process.pid, leader: PumaTuner::Probe::Processes.identity(Process.pid)}
    PumaTuner::Probe::Forecasting.send(:remove_const, :PAUSES_S)
    PumaTuner::Probe::Forecasting.const_set(:PAUSES_S, 0.1..0.2)
    ledgers = Struct.new(:directory).new(ENV["FOLDER"])
    supervisor = PumaTuner::Probe::Forecasting.send(:supervisor, ledgers, leader)
    puts supervisor ? "runs" : "does not run"
    Thread.new { supervisor.keep } if supervisor
    sleep
  RUBY

  # @param library [String] folder of the probe
  # @param words [Array<String>] of a command that starts it
  def start(before: "", library: Probe::LIBRARY_FOLDER, words: [], script: LEADER, **of_app)
    folders = [library, *Probe::Extension.library_folder].flat_map { |folder| ["-I", folder] }
    environment = {"RUBYOPT" => nil, "RUBYLIB" => nil, "GEM_PATH" => @folder, "GEM_HOME" => @folder, "FOLDER" => @folder, **of_app.transform_keys(&:to_s)}
    @leader = IO.popen([environment, *words, RbConfig.ruby, *folders, "-rpuma_tuner/probe", "-e", before + script, err: %i[child out]], pgroup: true)
  end

  def recommendation = wait_until("a recommendation") { Recommendation.read(@folder) }

  test "the process says what it found, which without ledgers is nothing, and it is no child of the server's" do
    start
    assert_equal "runs\n", @leader.gets
    assert_equal "failed", recommendation.why_not
    assert_match(/no process of the server is recorded/, recommendation.detail)
    assert_equal [@leader.pid], Probe::Processes.tree_of(@leader.pid)
  end

  # Looks after its children as a cluster's master does, where it is told to: it may come first once, but not mostly.
  FIRST_OF_CONTAINER = <<~'RUBY'
    states = -> { Dir["/proc/[0-9]*/stat"].map { |path| File.read(path)[/\) (\S) (\d+)/] }.grep(/ 1\z/) }
    unknown = []
    told = []
    30.times do
      sleep 0.3
      unknown << Process.wait2(-1, Process::WNOHANG) if ENV["MASTER"]
      told << PumaTuner::Probe::Recommendation.read(ENV["FOLDER"])&.made_at_s
      break if told.compact.uniq.size >= 4
    rescue Errno::ECHILD
      next
    end
    sleep 0.5
    p Process.pid, told.compact.uniq.size >= 2, states.call.grep(/Z/).size, unknown.compact.size < told.compact.uniq.size / 2.0
    exit!
  RUBY

  test "in the first process of a container no ended process is left behind, nor one that its master does not know" do
    words = in_namespace("true")[0..-5] + ["--pid", "--fork", "--mount-proc"]
    [{}, {MASTER: "1"}].each do |environment|
      start(words:, script: LEADER.sub(/^sleep\n/, FIRST_OF_CONTAINER), **environment)
      assert_equal %w[runs 1 true 0 true], @leader.read.lines(chomp: true)
    end
  end

  test "the app's Bundler, which RubyGems would load, stays out of the process" do
    File.write(setup = File.join(@folder, "setup.rb"), "raise 'loaded' if defined?(PumaTuner)")
    start(BUNDLER_SETUP: setup, BUNDLE_GEMFILE: "/nowhere/Gemfile")
    assert_match(/no process of the server is recorded/, recommendation.detail)
  end

  test "where gem puma_tuner is not there, nothing runs, and the lines tell what to do" do
    FileUtils.cp_r(Probe::LIBRARY_FOLDER, alone = File.join(@folder, "alone"))
    start(library: alone)
    assert_equal "does not run\n", @leader.gets
    assert_equal Recommendation.none("no_engine").with(made_at_s: recommendation.made_at_s), recommendation
    assert_in_delta Time.now.to_f, recommendation.made_at_s, 60
  end

  test "a process that can't start is told once, and nothing of it reaches the server" do
    start(before: "RbConfig.define_singleton_method(:ruby) { '/nowhere/ruby' }\n")
    assert_equal "runs\n", @leader.gets
    assert_match(%r{\Apuma_tuner: the forecast's process can't be started \(Errno::ENOENT.*/nowhere/ruby\); trying again\n\z}, @leader.gets)
    sleep 1
    assert Probe::Processes.alive?(@leader.pid)
    assert_nil @leader.read_nonblock(100, exception: false).then { |text| text unless text == :wait_readable }
  end

  test "a process that breaks is told once, with what Ruby said, and tried again" do
    start(before: "PumaTuner::Probe::Forecasting.send(:remove_const, :SCRIPT)\nPumaTuner::Probe::Forecasting::SCRIPT = 'raise(%q(no such thing))'\n")
    assert_equal "runs\n", @leader.gets
    assert_match(/\Apuma_tuner: the forecast's process has ended \(.*no such thing.*\); trying again\n\z/, @leader.gets)
    assert Probe::Processes.alive?(@leader.pid)
  end

  test "a process that is killed while it works is told once, and another one does the work" do
    script = "PumaTuner::Probe::Sidecar.main { |s| PumaTuner::Probe::Sidecar.settle('forecast', nicer: 19, leader_pid: s[:leader_pid], leader: s[:leader]); sleep }"
    start(before: "PumaTuner::Probe::Forecasting.send(:remove_const, :SCRIPT)\nPumaTuner::Probe::Forecasting::SCRIPT = %q(#{script})\n")
    pid = sidecar
    assert_equal 19, Process.getpriority(Process::PRIO_PROCESS, pid)
    Process.kill(:KILL, pid)
    other = wait_until("another process") { sidecar.then { |one| one unless one == pid } }
    Process.kill(:KILL, @leader.pid)
    wait_until("its end with the server") { !Probe::Processes.alive?(other) }
  end

  test "a process that is slow to start keeps its leader for a second at most" do
    slow = Probe::Supervisor.new("slow", script: "$stdin.read", settings: {})
    began_s = monotonic_s
    refute_nil slow.start
    assert_operator monotonic_s - began_s, :<, 3
  ensure
    slow.stop
  end

  def sidecar
    wait_until("the process") do
      Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i)
        .find { |pid| Probe::Processes.command_line(pid) == "puma_tuner forecast of #{@leader.pid}" }
    end
  end

  test "beside a server that the command measures, and where it is switched off, nothing is forecast" do
    script = "PumaTuner.run; puts PumaTuner::Probe::Sidecars.instance_variable_get(:@makers).keys.inspect"
    {{} => '["forecast"]', {"PUMA_TUNER_FORECAST" => "off"} => "[]", {"PUMA_TUNER_DIRECTORY" => @folder} => "[]"}.each do |environment, names|
      command = [RbConfig.ruby, "-I", Probe::LIBRARY_FOLDER, "-rpuma_tuner/probe", "-e", script]
      output = IO.popen([{"RUBYOPT" => nil, **environment}, *command, err: %i[child out]], &:read)
      assert_equal names, output.lines.last.chomp
    end
  end
end
