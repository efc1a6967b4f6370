# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "json"

# The dead man's switch, in a real cluster: an order holds as long as its controller is there and gives it again.
class ResizeTest < TunerTest
  time_limit 90

  Resize = PumaTuner::Probe::Resize
  Processes = PumaTuner::Probe::Processes

  PUMA_RB = <<~RUBY
    threads 3, 3
    workers 2
    require "puma_tuner/probe"
    PumaTuner.run(interval_s: 1_000, trial: true)
  RUBY

  def serving(puma_rb: PUMA_RB, **)
    ServedApp.open(puma_rb:) do |app|
      @app = app
      @port = app.start("-w", "2", **)
      @folder = wait_until("the ledgers") { app.ledgers_folder }
      yield
      assert_equal [200], ServedApp.request(@port, "/work", clients: 4, each: 3).uniq, "it serves as before"
      refute_match(/please report/, app.printed.join("\n"))
    end
  end

  # @return [Hash{Integer => Hash}] by process id, of the workers there are
  def states
    pids = @app.worker_pids
    Dir["#{@folder}/*.pool"].map { |path| JSON.parse(File.read(path), symbolize_names: true) }
      .select { |state| pids.include?(state[:pid]) }.to_h { |state| [state[:pid], state] }
  end

  def ready = wait_until("two workers that may be resized") { states.values.count { |state| state[:configured] } == 2 && states.keys.sort }

  def order(threads, controller: Processes.identity(Process.pid), lease_s: 10)
    expires_at_ns = PumaTuner::Clock.now_ns + (lease_s * 1e9).to_i
    Resize::Order.new(controller:, expires_at_ns:, threads:).write(@folder)
  end

  # As who reads ledgers sees them.
  def threads_counts
    Resize.threads_counts(Dir["#{@folder}/*.ledger"]).to_h { |path, count| [PumaTuner::Probe::Ledger.read(path).pid, count] }.slice(*@app.worker_pids)
  end

  def snapshot
    PumaTuner::Probe::Snapshot.of(PumaTuner::Probe::Ledgers.new(@folder).read, machine: PumaTuner::Probe::MachineFacts.read)
  end

  # Its own words are asked, and Puma's.
  def assert_threads(expected)
    wait_until("#{expected} threads", limit_s: 10) { expected.all? { |pid, count| states.dig(pid, :pool, :max_count) == count } }
  end

  # @yieldparam pid [Integer] of a process that could be a controller
  def with_controller
    pid = Process.spawn("sleep", "60")
    yield pid
  ensure
    Process.kill(:KILL, pid)
    Process.wait(pid)
  end

  test "one worker gets the threads that are ordered for it, and what is configured when the controller is killed" do
    serving do
      one, other = ready
      with_controller do |controller|
        order({one => 5}, controller: Processes.identity(controller))
        assert_threads(one => 5)
        assert_equal [nil, 5], [states[other][:threads], states[one][:threads]]
        assert_equal({one => 5, other => 3}, threads_counts)
        assert_equal [3, 3], states[other][:configured]
        ServedApp.request(@port, "/sleep", clients: 16, each: 10)
        Process.kill(:KILL, controller)
        assert_threads(one => 3, other => 3)
        assert_equal "controller_gone", states[one][:why_not]
        wait_until("the threads beyond it to end") { states[one][:pool].values_at(:spawned_count, :live_count).all? { |count| count <= 3 } }
      end
    end
  end

  test "an order that is not given again expires, and one for too long is not obeyed at all" do
    serving do
      one, = ready
      order({one => 2}, lease_s: 2)
      assert_threads(one => 2)
      assert_threads(one => 3)
      assert_equal "expired", states[one][:why_not]
      order({one => 2}, lease_s: 3_600)
      wait_until("a word on that") { states[one][:why_not] == "too_long" }
      assert_equal 3, states[one][:pool][:max_count]
    end
  end

  test "what another version writes, or what is no order at all, changes nothing" do
    serving do
      one, = ready
      order({one => 2})
      assert_threads(one => 2)
      path = File.join(@folder, Resize::ORDER)
      valid = JSON.parse(File.read(path))
      [valid.merge("format" => 2), valid.except("threads"), valid.merge("threads" => [1]), valid.merge("threads" => {"x" => "y"}),
        valid.merge("expires_at_ns" => nil), [], 7].map(&:to_json).push("{", "", "\xff\x00" * 999).each do |text|
        order({one => 2})
        assert_threads(one => 2)
        File.binwrite(path, text)
        assert_threads(one => 3)
        assert_equal "other_version", states[one][:why_not], text
      end
    end
  end

  test "who gives an order writes through no link that somebody has put in its way" do
    Dir.mktmpdir do |folder|
      other = File.join(folder, "other").tap { |path| File.write(path, "mine") }
      partial = File.join(folder, "#{Resize::ORDER}.#{Process.pid}.partial")
      [other, File.join(folder, "nowhere")].each do |target|
        File.symlink(target, partial)
        Resize::Order.new(controller: "1", expires_at_ns: 1, threads: {}).write(folder)
        assert_equal ["mine", false], [File.read(other), File.exist?(File.join(folder, "nowhere"))]
        assert_equal 0o100644, File.stat(File.join(folder, Resize::ORDER)).mode
      end
    end
  end

  test "no more is obeyed than the app allows, and none has no threads" do
    serving(puma_rb: PUMA_RB.sub("trial: true", "tune: 2..4")) do
      one, other = ready
      assert_equal [2, 4, true], states[one].values_at(:least, :most, :automatic)
      [5, 1, 0, -3].each do |count|
        order({one => count, other => 4})
        assert_threads(other => 4)
        wait_until("a word on #{count}") { states[one][:why_not] == "not_allowed" }
        assert_equal 3, states[one][:pool][:max_count]
        File.unlink(File.join(@folder, Resize::ORDER))
        assert_threads(other => 3)
      end
    end
  end

  test "a worker that Puma starts in another's place begins with what is configured, also in a phased restart" do
    serving do
      one, other = ready
      keep = Thread.new { loop { order({one => 5, other => 5}) && sleep(0.5) } }
      assert_threads(one => 5, other => 5)
      ServedApp.request(@port, "/work", clients: 4, each: 3)
      assert_equal "2x5", snapshot.topology.to_s, "what was configured is no longer so"
      Process.kill(:KILL, one)
      newer = wait_until("another worker") { states.keys.sort.then { |pids| pids if pids.size == 2 && !pids.include?(one) } }
      assert_threads(other => 5, (newer - [other]).first => 3)
      Process.kill(:USR1, @app.master_pid)
      last = wait_until("two new workers", limit_s: 60) { states.keys.sort.then { |pids| pids if pids.size == 2 && (pids & newer).empty? } }
      assert_threads(last.to_h { |pid| [pid, 3] })
      wait_until("no state of those that ended") { Dir["#{@folder}/*.pool"].size <= 5 }
      keep.kill
    end
  end

  test "a server that was not started with it allowed obeys nothing, and has no thread for it" do
    serving(puma_rb: PUMA_RB.sub(", trial: true", "")) do
      sleep 1
      assert_empty Dir["#{@folder}/*.pool"]
      pids = @app.worker_pids
      order(pids.to_h { |pid| [pid, 1] })
      sleep 2.5
      ServedApp.request(@port, "/sleep", clients: 8, each: 5)
      names = pids.map { |pid| Dir["/proc/#{pid}/task/*/comm"].map { |path| File.read(path).chomp } }
      assert(names.any? { |list| list.grep(/ tp \d/).size == 3 }, names.inspect)
      assert_empty names.flatten.grep(/resize/)
    end
  end

  test "the environment allows it, too, with the plugin; on Puma before 8 the reason is told" do
    puma_rb = "threads 3, 3\nworkers 2\nplugin :puma_tuner\n"
    serving(puma_rb:, extra: {"PUMA_TUNER_TRIAL" => "1"}) { assert_equal 2, ready.size }
    serving(puma_rb:, extra: {"PUMA_TUNER_TUNE" => "1..8"}, gemfile: ServedApp::PUMAS.fetch("puma_7_2")) do
      wait_until("a word") { states.values.count { |state| state[:why_not].to_s.include?("Puma 8 can") } == 2 }
    end
  end

  test "a server does not start with bounds that can't be" do
    ["0..3", "8", "1..999", "3..1"].each do |text|
      ServedApp.open(puma_rb: "plugin :puma_tuner\n") do |app|
        error = assert_raises(RuntimeError) { app.start(extra: {"PUMA_TUNER_TUNE" => text}) }
        assert_match(/write how many threads a process may have, such as 1..8/, error.message)
      end
    end
  end

  test "responses of 500 and above are counted, the app's own and Puma's" do
    rackup = 'run lambda { |env| env["PATH_INFO"] == "/raise" ? raise("no") : [env["PATH_INFO"] == "/fail" ? 503 : 404, {}, []] }'
    ServedApp.open(rackup:, puma_rb: PUMA_RB.sub("workers 2", "")) do |app|
      port = app.start
      {"/raise" => 3, "/fail" => 4, "/other" => 5}.each { |path, count| ServedApp.request(port, path, clients: 1, each: count) }
      folder = @folder = app.ledgers_folder
      order({})
      wait_until("seven errors") { Dir["#{folder}/*.pool"].any? { |path| JSON.parse(File.read(path))["errors_count"] == 7 } }
      assert_equal 1, Dir["#{folder}/*.pool"].size
    end
  end
end
