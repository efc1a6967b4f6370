# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/served_app"
require "tmpdir"

# What can go wrong around the probe, each in a process of its own: the app goes on, and one line says what is missing.
class HarmlessTest < TunerTest
  time_limit 150

  LIBRARY = PumaTuner::Probe::LIBRARY_FOLDER
  Clock = PumaTuner::Probe::GvlClock

  # @param script [String] Ruby
  # @return [Array(String, String)] what it printed, and what it said on standard error
  def run_script(script, environment = {}, library = LIBRARY)
    out, errors, status = Open3.capture3({"RUBYOPT" => nil, "RUBYLIB" => nil, **environment}, RbConfig.ruby, "-I", library, "-rpuma_tuner/probe", "-rtmpdir",
      "-e", "C = PumaTuner::Probe::GvlClock\n#{script}")
    assert status.success?, "#{status}\n#{out}\n#{errors}"
    [out, errors]
  end

  # What whoever leads a server is asked for: the settings of all that is allowed, and what runs beside it.
  LEADS = <<~RUBY
    require "puma"
    require "puma/plugin"
    before = [$LOADED_FEATURES.dup, Gem.loaded_specs.keys]
    require "puma_tuner/probe"
    %s
    PumaTuner::Probe::Sidecars.send(:supervisors).each { |one| p [:runs, one.instance_variable_get(:@name), one.send(:spawn).close] }
    p ($LOADED_FEATURES - before[0]).reject { |path| path.start_with?(PumaTuner::Probe::LIBRARY_FOLDER) }, Gem.loaded_specs.keys - before[1]
  RUBY

  WAYS_IN = {
    "PumaTuner.run(trial: true)" => %w[forecast], "PumaTuner.export('tcp://127.0.0.1:0')" => %w[exporter forecast],
    "require 'puma/plugin/puma_tuner'\nPuma::Plugins.find('puma_tuner').new.config(nil)" => %w[forecast]
  }.freeze

  # @return [String] what a server's leader with this way in printed
  def lead(way_in, library: LIBRARY) = run_with_puma(format(LEADS, way_in), {"PUMA_TUNER_TUNE" => "1..8"}, library:)

  # @return [String] all that it printed
  def run_with_puma(script, extra = {}, library: LIBRARY, gemfile: ServedApp::PUMAS.fetch("puma_8_0"))
    environment = Bundler.unbundled_env.merge(ServedApp::BASE_ENVIRONMENT, "BUNDLE_GEMFILE" => gemfile, **extra)
    out, status = Open3.capture2e(environment.compact, RbConfig.ruby, "-I", library, "-rbundler/setup", "-e", script, unsetenv_others: true)
    assert status.success?, out
    out
  end

  # An app whose bundle has another version of it could not be loaded.
  test "whoever leads a server loads no gem before the app has chosen its version, nor a file of Ruby's" do
    WAYS_IN.each do |way_in, names|
      assert_equal [*names.map { |name| "[:runs, #{name.dump}, nil]" }, "[]", "[]"], lead(way_in).lines(chomp: true), way_in
    end
  end

  test "so it is where there is no gem puma_tuner, and a forecast's place tells that" do
    Dir.mktmpdir do |folder|
      FileUtils.cp_r(LIBRARY, alone = File.join(folder, "alone"))
      assert_equal %w[[] []], lead("PumaTuner.run", library: alone).lines(chomp: true)
    end
  end

  test "what a request needs is loaded where Puma is, before workers are forked" do
    out = run_with_puma(<<~RUBY)
      require "puma_tuner/probe"
      PumaTuner::Probe.start(way_in: "run")
      missing = -> { p %i[Endpoint Ledgers Recorder Recording RequestStart].select { |name| PumaTuner::Probe.autoload?(name) }.size }
      missing.call
      require "puma"
      require "puma/server"
      missing.call
    RUBY
    assert_equal %w[5 0], out.lines(chomp: true)
  end

  test "where its files have gone, as with a release's folder, jobs return what they do, and servers start" do
    Dir.mktmpdir do |folder|
      FileUtils.cp_r(LIBRARY, gone = File.join(folder, "gone"))
      out, errors = run_script(<<~RUBY, {}, gone)
        FileUtils.rm_rf(#{gone.dump})
        p PumaTuner.measure("job") { :done }
        PumaTuner::Probe.send(:server_starts)
        PumaTuner::Probe.start(way_in: "run")
        p PumaTuner::Probe.recorder
      RUBY
      assert_equal ":done\nPumaTuner::Probe::Unwatched\n", out
      assert_match(/can't be watched \(LoadError: /, errors)
    end
  end

  test "what is loaded late is the probe's own, whatever the app has made of $LOAD_PATH" do
    out, = run_script(<<~RUBY)
      $LOAD_PATH.delete(#{LIBRARY.dump})
      [PumaTuner, PumaTuner::Document, PumaTuner::Export, PumaTuner::Probe, PumaTuner::Probe::Profiling, PumaTuner::Probe::Profilers]
        .each { |owner| owner.constants.each { |name| owner.const_get(name) if owner.autoload?(name) } }
      p :done
    RUBY
    assert_equal ":done\n", out
  end

  # Serves an app, asked three times, in a server of its own.
  SERVING = <<~'RUBY'
    $stdout.sync = true
    require "puma"
    require "puma/server"
    require "puma/configuration"
    require "puma_tuner/probe"
    PumaTuner::Probe.start(way_in: "run")
    serve = lambda do |app, threads_count, name|
      options = {min_threads: threads_count, max_threads: threads_count, log_writer: Puma::LogWriter.null}
      server = Puma::Server.new(app, nil, options)
      port = server.add_tcp_listener("127.0.0.1", 0).addr[1]
      server.run(thread_name: name)
      request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      3.times { TCPSocket.open("127.0.0.1", port) { |socket| socket.write(request) && socket.read } }
    end
    app = ->(_) { [200, {}, ["fine"]] }
    launched = Puma::Configuration::ConfigMiddleware.new(Puma::Configuration.new, app)
    read = -> { PumaTuner::Probe::Ledger.read(PumaTuner::Probe.recording.ledger_path) }
    recorded_count = -> { read.call.entries[[:request, "GET /"]]&.counts&.first }
  RUBY

  # Puma::Servers as a plugin makes them, as Puma's launcher does, and as its control server is.
  SERVERS = SERVING + <<~'RUBY'
    serve.call(app, 1, "plugin's")
    p PumaTuner::Probe.recorder
    serve.call(launched, 2, "srv")
    serve.call(app, 1, "ctl")
    sleep 0.01 until recorded_count.call == 3
    ledger = read.call
    p ledger.facts["threads_count"], ledger.entries.keys.filter_map { |kind, name| name[/\w+ \w+/] if kind == :pool_thread }.uniq
    exit!(0)
  RUBY

  # `rails server` loads the app, and the probe with it, before Puma's server.
  FAILING = <<~BEFORE + SERVING + <<~AFTER
    require "puma"
    require "puma_tuner/probe"
    PumaTuner::Probe::Puma.count_errors
  BEFORE
    failing = ->(_) { [500, {}, ["no"]] }
    serve.call(Puma::Configuration::ConfigMiddleware.new(Puma::Configuration.new, failing), 1, "srv")
    p PumaTuner::Probe::Puma.errors_count
    exit!(0)
  AFTER

  # As tools do that were made before modules could be prepended; here after the probe.
  REPLACED = SERVING + <<~RUBY
    handled_count = 0
    Puma::Server.class_eval do
      alias_method :handle_request_without_tool, :handle_request
      define_method(:handle_request) { |*given| (handled_count += 1) && handle_request_without_tool(*given) }
    end
    serve.call(launched, 1, "srv")
    500.times { break if recorded_count.call == 3; sleep 0.01 }
    p [handled_count, recorded_count.call]
    exit!(0)
  RUBY

  ServedApp::PUMAS.each do |name, gemfile|
    test "a server that is not the app's is not recorded, and takes nothing of the app's, on #{name}" do
      assert_equal ["PumaTuner::Probe::Unwatched", "2", '["puma srv"]'], run_with_puma(SERVERS, gemfile:).lines(chomp: true)
    end

    test "a server's errors are counted, too, where that is wanted before its class is there, on #{name}" do
      assert_equal "3\n", run_with_puma(FAILING, gemfile:)
    end

    test "a tool that puts a method of its own in the place of Puma's, and calls the one before it, is served and recorded, on #{name}" do
      assert_equal "[3, 3]\n", run_with_puma(REPLACED, gemfile:)
    end
  end

  # @param version [String]
  # @return [String] Gemfile of the newest Puma, as if it were that version, and handed over requests in a form of its own
  def other_puma(folder, version)
    gem = Gem::Specification.find_by_name("puma", "8.0.2")
    FileUtils.cp_r("#{gem.full_gem_path}/.", folder)
    File.write("#{folder}/puma.gemspec", gem.to_ruby.gsub("8.0.2", version))
    {"const.rb" => ['"8.0.2"', version.dump], "server.rb" => ["case handle_request(processor, client,", "case handle_request(processor, client, :new,"],
     "response.rb" => ["def handle_request(processor, client,", "def handle_request(processor, client, new,"]}.each do |name, (from, to)|
      text = File.read(path = "#{folder}/lib/puma/#{name}")
      File.write(path, text.gsub(from, to).tap { |changed| refute_equal text, changed })
    end
    File.write("#{folder}/Gemfile", "source Gem.sources.to_a.first\ngem 'puma', path: '.'\ngem 'rack', '3.2.8'\n")
    "#{folder}/Gemfile"
  end

  test "a Puma of another version, or one that hands over requests in another form, serves unwatched, and a line says so" do
    %w[9.0.0 8.9.9].each do |version|
      Dir.mktmpdir do |folder|
        ServedApp.open(puma_rb: "plugin :puma_tuner\n") do |app|
          port = app.start(gemfile: other_puma(folder, version), extra: {"PUMA_TUNER_INTERVAL_S" => "0.2"})
          assert_equal [200], ServedApp.request(port, "/work", clients: 2, each: 3).uniq, version
          said = app.stop.grep(/puma_tuner|srv tp/)
          assert_equal 1, said.size, said.join("\n")
          assert_match(/can't be watched \(Puma #{version} hands over requests in a form that .* not know/, said.first)
        end
      end
    end
  end

  # A thread's own `raise` ends that thread.
  test "a thread whose name is no text, or raises, is recorded without one" do
    out, = run_script(<<~RUBY)
      class Odd < Thread; def name = :symbol; end
      class Raises < Thread; def name = raise("no"); end
      class Refuses < Thread; def name = Kernel.raise("no"); def native_thread_id = "nine"; end
      C.start
      Dir.mktmpdir do |folder|
        C.open_ledger(File.join(folder, "x.ledger"), "{}")
        threads = [Odd, Raises, Refuses].map { |kind| kind.new { sleep 0.01; sleep } }
        sleep 0.05
        C.sweep
        Thread.class_eval { def name = Object.new }
        Thread.new { sleep 0.01; sleep }
        sleep 0.05
        C.sweep
        p threads.all?(&:alive?), PumaTuner::Probe::Ledger.read(File.join(folder, "x.ledger")).entries.keys.count([:thread, "(no name)"])
      end
    RUBY
    assert_equal "true\n1\n", out
  end

  test "more threads than there are places: the clock starts in the newest of them, and counts the others" do
    out, = run_script(<<~RUBY)
      Array.new(1_100) { Thread.new { sleep } }
      sleep 0.2
      Thread.new { p C.start, C.job_begin, C.request_take(false).nil? }.join
      p C.unobserved_threads_count.positive?
    RUBY
    assert_equal "true\ntrue\nfalse\ntrue\n", out
  end

  # A bound of what the few threads there are need, whichever the machine: some pages each, and Ruby's own objects.
  test "places that no thread has ever taken take no memory, neither at the start, after a fork, nor when threads are looked at" do
    out, = run_script(<<~RUBY)
      bytes = -> { File.read("/proc/self/status")[/^RssAnon:\\s+(\\d+) kB/, 1].to_i * 1024 }
      look = ->(folder) do
        GC.start
        before = bytes.call
        C.start
        C.open_ledger(File.join(folder, "\#{Process.pid}.ledger"), "{}")
        3.times { C.sweep }
        p bytes.call - before
      end
      Dir.mktmpdir do |folder|
        look.call(folder)
        Process.wait(fork { look.call(folder) && exit!(true) })
      end
    RUBY
    assert_equal 2, out.lines.size
    out.lines.each { |line| assert_operator line.to_i, :<, 1 << 20 }
  end

  # The clock of whoever waits: the limit is the issue's, and far below a time slice, of
  # which each release of the GVL would cost one.
  test "the clock starts beside a thread that computes without giving it a turn" do
    out, = run_script(<<~RUBY)
      turns = 0
      Thread.new { loop { turns += 1 } }
      sleep 0.01
      before = turns
      C.start
      p turns - before
    RUBY
    assert_equal "0\n", out
  end

  test "where nothing can be written, a job returns what it does, and one line says so" do
    out, errors = run_script(<<~RUBY, "TMPDIR" => "/nowhere")
      PumaTuner::Probe::Ledgers.define_singleton_method(:places) { ["/proc"] }
      3.times { p PumaTuner.measure("job") { :done } }
      p PumaTuner.measure("raises") { raise "the app's own" } rescue p $!.message
    RUBY
    assert_equal ":done\n" * 3 + "\"the app's own\"\n", out
    assert_equal 1, errors.lines.size, errors
    assert_match(/nothing is recorded in this process/, errors)
  end

  test "a job returns its value without any folder for temporary files" do
    out, errors = run_script("PumaTuner::Probe::Ledgers.define_singleton_method(:places) { [] }; p PumaTuner.measure('job') { :done }")
    assert_equal ":done\n", out
    assert_match(/there is no folder for temporary files/, errors)
  end

  test "an error that cannot be said, as standard error is closed, does not reach the app either" do
    out, = run_script("PumaTuner::Probe::Ledgers.define_singleton_method(:places) { [] }; $stderr.close; p PumaTuner.measure('job') { :done }")
    assert_equal ":done\n", out
  end

  test "where profiles have no place, a request that is to be profiled is served, and one line says so" do
    Dir.mktmpdir do |folder|
      File.write(file = File.join(folder, "file"), "")
      out, errors = run_script(<<~RUBY)
        app = PumaTuner::ProfilerMiddleware.new(->(_) { [200, {}, ["fine"]] }, with: "vernier", token: "x" * 16, permit: nil, folder: #{"#{file}/profiles".dump})
        p app.call(PumaTuner::Probe::Profiling::OneRequest::KEY => "x" * 16)
      RUBY
      assert_equal "[200, {}, [\"fine\"]]\n", out
      assert_match(/\Apuma_tuner: a request could not be profiled \(Errno::\w+: .*#{Regexp.escape(file)}\)\n\z/, errors)
    end
  end

  test "after repeated faults of its own it switches itself off, and says so" do
    out, errors = run_script(<<~RUBY)
      PumaTuner::Probe.begin_recording
      C.define_singleton_method(:request_end) { |*| raise "broken" }
      20.times { PumaTuner.measure("job") { 1 } }
      p PumaTuner::Probe.recorder
    RUBY
    assert_equal "PumaTuner::Probe::Unwatched\n", out
    assert_equal 2, errors.lines.size, errors
    assert_match(/please report this/, errors.lines.first)
    assert_match(/after 10 such faults/, errors.lines.last)
  end

  test "a file that can't be loaded in the middle of a request or job is a fault of its own, too" do
    out, errors = run_script(<<~RUBY)
      PumaTuner::Probe.begin_recording
      %i[request_begin request_end].each { |name| C.define_singleton_method(name) { |*| raise LoadError, "gone" } }
      p PumaTuner.measure("job") { :done }
      env = {"REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "SCRIPT_NAME" => "", PumaTuner::Probe::Puma::APP_WAS_CALLED => true}
      client = Struct.new(:env, :puma_tuner_queued_ns, :puma_tuner_before_puma_ns).new(env)
      p PumaTuner::Probe.recorder.begin(client), PumaTuner::Probe.recorder.finish(client)
    RUBY
    assert_equal ":done\ntrue\nnil\n", out
    assert_match(/LoadError: gone/, errors)
  end

  # As Rack::Timeout's, which are no StandardErrors, where they come late.
  test "an exception that comes while a request or job is being recorded leaves its thread recorded" do
    out, = run_script(<<~RUBY)
      PumaTuner::Probe.begin_recording
      recorder = PumaTuner::Probe.recorder
      env = {"REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "SCRIPT_NAME" => "", PumaTuner::Probe::Puma::APP_WAS_CALLED => true}
      client = Struct.new(:env, :puma_tuner_queued_ns, :puma_tuner_before_puma_ns).new(env)
      works = [-> { PumaTuner.measure("job") { 1 } }, -> { recorder.begin(client) && recorder.finish(client) }]
      ended = C.method(:request_end)
      C.define_singleton_method(:request_end) { |*| raise Exception, "the app's own" }
      works.each do |work|
        work.call
      rescue Exception => error
        p error.message
      end
      C.define_singleton_method(:request_end) { |*numbers| ended.call(*numbers) }
      works.each(&:call)
      entries = PumaTuner::Probe::Ledger.read(PumaTuner::Probe.recording.ledger_path).entries
      p entries.fetch([:job, "job"]).counts.first, entries.fetch([:request, "GET /"]).counts.first
    RUBY
    assert_equal ["the app's own".dump] * 2 + %w[1 1], out.lines(chomp: true)
  end

  # JRuby and TruffleRuby: here no more is taken away than what they lack.
  test "without Ractors and without the extension jobs return what they do, and are recorded and told of" do
    out, errors = run_script(<<~RUBY)
      Object.send(:remove_const, :Ractor)
      C.define_singleton_method(:why_not) { "no extension" }
      p PumaTuner.measure("job") { :done }
      recorder = PumaTuner::Probe.recorder
      p recorder.class
      recorder.send(:write)
      snapshot = PumaTuner.snapshot
      again = PumaTuner::Document.parse(PumaTuner::Document.dump(snapshot), "again", [:observation])
      p again.jobs.map(&:name), PumaTuner::Document.dump(again) == PumaTuner::Document.dump(snapshot)
      p again.unknown.all? { |one| one.facts.each_value.all?(&:frozen?) }
    RUBY
    assert_equal [":done", "PumaTuner::Probe::FallbackRecorder", '["job"]', "true", "true"], out.lines(chomp: true)
    assert_equal 1, errors.lines.size, errors
  end

  test "a process is recorded where ended ledgers can't become one, and these may take as much as one that is written" do
    out, errors = run_script(<<~RUBY)
      C.define_singleton_method(:place_bytes) { |_| 64 << 20 }
      PumaTuner::Probe::Ledgers.define_method(:fold_ended) { |bytes| p(bytes) && raise(Errno::ENOSPC) }
      C.singleton_class.prepend(Module.new { def open_ledger(_path, _facts, bytes_max) = p(bytes_max) && super })
      PumaTuner.measure("job") { 1 }
      p PumaTuner::Probe.recorder.class
    RUBY
    assert_equal [(24 << 20).to_s, (24 << 20).to_s, "PumaTuner::Probe::Recorder"], out.lines(chomp: true)
    assert_empty errors
  end

  test "an interval that can't be keeps no server from starting, and one line says so" do
    {"ten" => 10.0, "0" => 10.0, "-1" => 10.0, "" => 10.0, "0.5" => 0.5}.each do |text, interval_s|
      out, errors = run_script("p PumaTuner::Probe::Console.interval_s", {"PUMA_TUNER_INTERVAL_S" => text})
      assert_equal "#{interval_s}\n", out, text
      assert_equal (text == "0.5") ? "" : "puma_tuner: PUMA_TUNER_INTERVAL_S=#{text} is no number of seconds above 0; 10 are taken\n", errors
    end
  end

  test "lines that can't be printed are no fault of its own, and one line says so" do
    streams = {"IO.pipe.then { |from, to| from.close; to }" => "EPIPE", "File.open('/dev/full', 'w')" => "ENOSPC",
               "IO.pipe.last.tap(&:close)" => "IOError"}
    streams.each do |stream, error|
      Dir.mktmpdir do |folder|
        out, errors = run_script(<<~RUBY, "PUMA_TUNER_DIRECTORY" => folder)
          PumaTuner::Probe.begin_recording
          entry = C.entry(1, "GET /")
          console = PumaTuner::Probe::Console.new(ledger_path: PumaTuner::Probe.recording.ledger_path, interval_s: 1, out: #{stream})
          12.times do
            Thread.new { Thread.current.name = "puma srv tp 001"; C.request_begin; C.request_end(entry, nil, nil) }.join
            console.print
          end
          p PumaTuner::Probe.recorder.class
        RUBY
        assert_equal "PumaTuner::Probe::Recorder\n", out
        assert_match(/\Apuma_tuner: the threads' lines can't be printed \(.*#{error}.*\)\n\z/, errors)
      end
    end
  end

  test "where its ledger has gone, the lines end, and one says so" do
    out, errors = run_script(<<~RUBY)
      PumaTuner::Probe.begin_recording
      path = PumaTuner::Probe.recording.ledger_path
      console = PumaTuner::Probe::Console.new(ledger_path: path, interval_s: 1, out: $stdout)
      File.unlink(path)
      12.times { console.print }
      p PumaTuner::Probe.recorder.class
    RUBY
    assert_equal "PumaTuner::Probe::Recorder\n", out
    assert_match(/\Apuma_tuner: the threads' lines end, as .*\.ledger has gone\n\z/, errors)
  end

  test "a job's name may be anything" do
    out, errors = run_script("[nil, :symbol, 1, Object, \"\\xff\\0\"].each { |name| PumaTuner.measure(name) { print 1 } }")
    assert_equal "11111", out
    assert_empty errors
  end

  test "other Ractors run as they would without it, and their threads count as not observed" do
    out, = run_script(<<~RUBY)
      $VERBOSE = nil
      C.start
      Dir.mktmpdir do |folder|
        C.open_ledger(File.join(folder, "x.ledger"), "{}")
        C.watch_locks
        workers = Array.new(1) { Ractor.new { 50.times { Thread.new { Mutex.new.synchronize { sleep 0.0001 } }.join }; PumaTuner.measure("job") { :done } } }
        200.times { C.job_begin && Mutex.new.synchronize { sleep 0.0001 } && C.request_end(C.entry(2, "ours"), nil, nil) }
        p workers.map { |worker| worker.respond_to?(:value) ? worker.value : worker.take }
        p C.unobserved_threads_count >= 50
        p PumaTuner::Probe::Ledger.read(File.join(folder, "x.ledger")).entries.fetch([:job, "ours"]).counts.first
      end
    RUBY
    assert_equal "[:done]\ntrue\n200\n", out
  end

  test "beside a living Ractor, where Ruby refuses the clock, the app goes on, and one line says why" do
    out, errors = run_script(<<~RUBY, "PUMA_TUNER_FORECAST" => "off")
      Warning[:experimental] = false
      ractor = Ractor.new { sleep }
      PumaTuner.run
      p [C.install, C.start, C.installed?, C.available?]
      2.times { p PumaTuner.measure("job") { :done } }
      p PumaTuner::Probe.recorder.class
    RUBY
    assert_equal "[false, false, false, true]\n:done\n:done\nPumaTuner::Probe::FallbackRecorder\n", out
    assert_equal 1, errors.lines.size, errors
    assert_match(/the clock of threads does not start \(.*multiple ractors\)\. Have PumaTuner called before/, errors)
  end

  test "once the Ractor that was in the way has ended, the clock starts" do
    out, = run_script(<<~RUBY)
      Warning[:experimental] = false
      ractor = Ractor.new { Ractor.receive }
      p C.start
      ractor.send(:end)
      sleep 0.01 until Ractor.count == 1
      p C.start, C.refusal, C.job_begin, C.request_take(false).nil?
    RUBY
    assert_equal "false\ntrue\nnil\ntrue\nfalse\n", out
  end

  test "where the app can't be watched at all, its boot goes on, and one line says so" do
    out, errors = run_script(<<~RUBY)
      C.define_singleton_method(:install) { raise "broken" }
      PumaTuner.run
      p PumaTuner::Probe.recorder
    RUBY
    assert_equal "PumaTuner::Probe::Unwatched\n", out
    assert_match(/this process can't be watched \(RuntimeError: broken\)/, errors)
  end

  TWO_RACTORS = <<~RUBY
    ractors = Array.new(2) { Ractor.new { 200.times { Thread.new { 1 }.join }; :ok } }
    p ractors.map { |one| one.respond_to?(:value) ? one.value : one.take }
  RUBY

  HANGS_S = 1.5
  ENDS_WANTED = 3

  # None of forty ends, and five of twenty: by chance in 3 of 1,000, where both hang equally often.
  TRIES_MAX = 40
  CONTROLS_COUNT = 20
  CONTROLS_ENDED = 5

  # @param words [Array<String>] Ruby's
  # @return [Array<String>] what some processes printed, and how each ended;
  #   those that hang are killed, and others tried
  def ends_of(*words, tries: TRIES_MAX, wanted: ENDS_WANTED)
    ends = []
    tries.times do
      break if ends.size == wanted
      Open3.popen2e({"RUBYOPT" => nil, "RUBYLIB" => nil}, RbConfig.ruby, "-W0", *words) do |_, out, process|
        next ends << "#{out.read}#{process.value.exitstatus}" if process.join(HANGS_S)
        Process.kill(:KILL, process.pid)
      end
    end
    ends
  end

  # In processes of their own: without us, too, they hang in Ruby 3.4.5 more often than not.
  test "two Ractors that start threads come to their end where they do so without it, and their threads count as not observed" do
    ends = ends_of("-I", LIBRARY, "-rpuma_tuner/probe", "-e", <<~RUBY)
      p PumaTuner::Probe::GvlClock.start
      #{TWO_RACTORS}
      p PumaTuner::Probe::GvlClock.unobserved_threads_count >= 400
    RUBY
    return assert_operator(ends_of("-e", TWO_RACTORS, tries: CONTROLS_COUNT, wanted: CONTROLS_ENDED).size, :<, CONTROLS_ENDED) if ends.empty?
    assert_equal ["true\n[:ok, :ok]\ntrue\n0"], ends.uniq
  end

  test "a full place costs names and traces, never the process" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "x.ledger")
      out, = run_script(<<~RUBY)
        C.start
        p C.open_ledger(#{path.inspect}, "{}", 600_000)
        entries = Array.new(50) { |i| C.entry(1, "GET /\#{i}") }
        2_000.times { |i| C.job_begin && C.request_end(entries[i % 50], nil, nil) }
      RUBY
      assert_equal "nil\n", out
      ledger = PumaTuner::Probe::Ledger.read(path)
      assert_equal 2_000, ledger.entries.values.select { |entry| entry.kind == :request }.sum { |entry| entry.counts.first }
      assert_operator ledger.unnamed_count, :>, 30
      assert_operator File.stat(path).blocks * 512, :<=, 600_000
    end
  end

  # The lines are printed in a process that serves.
  test "the threads' lines cost little, however many endpoints and traces there are" do
    out, = run_script(<<~RUBY)
      C.start
      Dir.mktmpdir do |folder|
        C.open_ledger(path = File.join(folder, "1-1.ledger"), "{}")
        entries = Array.new(200) { |i| C.entry(1, "GET /\#{i}") }
        Thread.new { Thread.current.name = "puma srv tp 001"; 4_000.times { |i| C.request_begin; C.request_end(entries[i % 200], nil, nil) } }.join
        console = PumaTuner::Probe::Console.new(ledger_path: path, interval_s: 1, out: $stdout)
        console.print
        read = [-> { PumaTuner::Probe::Ledger.read(path) }, -> { console.print }]
        costs = read.map { |one| one.call && one.call; before = GC.stat(:total_allocated_objects); one.call; GC.stat(:total_allocated_objects) - before }
        p costs.first / costs.last
      end
    RUBY
    assert_match(/\Apuma srv tp 001: cpu: \d/, out)
    assert_operator out.lines.last.to_i, :>, 20
  end

  # A thread's stack is larger than what may still be mapped.
  STACK_BYTES = 512 << 20
  NO_ROOM = <<~RUBY
    most_bytes = Process.getrlimit(:AS).last
    mapped_bytes = File.read("/proc/self/status")[/^VmSize:\\s+(\\d+) kB/, 1].to_i * 1024
    Process.setrlimit(:AS, mapped_bytes + #{STACK_BYTES / 2}, most_bytes)
    failures = Array.new(1_100) { Thread.new {} rescue $!.class }
    Process.setrlimit(:AS, most_bytes, most_bytes)
  RUBY

  test "threads that Ruby could not make, more than there are places, leave their places to others" do
    skip "there is no /proc here" unless File.exist?("/proc/self/status")
    stacks = {"RUBY_THREAD_MACHINE_STACK_SIZE" => STACK_BYTES.to_s, "RUBY_THREAD_VM_STACK_SIZE" => (16 << 10).to_s}
    out, = run_script(<<~RUBY, stacks)
      older = Thread.new { sleep }
      Thread.pass until older.stop?
      C.start
      Dir.mktmpdir do |folder|
        C.open_ledger(File.join(folder, "x.ledger"), "{}")
        #{NO_ROOM}
        p failures.uniq, C.unobserved_threads_count.positive?
        failures = nil
        GC.start
        C.sweep
        p [older, Thread.new { sleep }].map { |thread| C.totals(thread).nil? }
      end
    RUBY
    assert_equal "[ThreadError]\ntrue\n[false, false]\n", out
  end

  test "where other extensions have taken all places for data of threads, the app goes on, and one line says why" do
    out, errors = run_script(<<~RUBY, {"PUMA_TUNER_FORECAST" => "off"})
      require "fiddle"
      create_key = Fiddle.dlopen(nil)["rb_internal_thread_specific_key_create"]
      8.times { Fiddle::Function.new(create_key, [], Fiddle::TYPE_INT, need_gvl: true).call }
      PumaTuner.run
      p C.installed?, PumaTuner.measure("job") { :done }, PumaTuner::Probe.recorder.class
    RUBY
    assert_equal "false\n:done\nPumaTuner::Probe::FallbackRecorder\n", out
    assert_match(/the clock of threads does not start \(.*\b8\b/, errors)
  end

  test "a place that is too small is reported as such" do
    Dir.mktmpdir do |folder|
      assert_equal Errno::ENOSPC.new.message, Thread.new { Clock.start && Clock.open_ledger(File.join(folder, "x.ledger"), "{}", 10_000) }.value
      assert_empty Dir.children(folder)
    end
  end
end
