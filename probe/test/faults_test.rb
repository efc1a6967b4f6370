# frozen_string_literal: true

require "test_helper"
require "support/namespace"
require "support/served_app"
require "open3"
require "socket"

# Real servers under load to which something happens. After each, three counts of requests are held against
# each other: what the clients had answered, what the app itself has counted (a byte in a file for each
# request, by the kernel), and what the probe has recorded. They agree to the unit; where a process is killed,
# but for those requests that were under way in it.
class FaultsTest < TunerTest
  include PumaTuner
  include Namespace

  time_limit 180

  # Counts by itself, in a file that all its processes append to.
  RACKUP = <<~'RUBY'
    require "timeout"
    counted = File.open("served", File::WRONLY | File::APPEND | File::CREAT)
    app = lambda { |env|
      case env["PATH_INFO"]
      when "/fork" then Process.wait(fork { Array.new(100) { Object.new }; sleep 0.001; exit!(0) })
      when "/timeout" then (Timeout.timeout(0.002) { sleep 0.05 } rescue nil)
      when "/thread" then Thread.new { sleep }.tap { |thread| sleep 0.001; thread.kill }.join
      when "/raise" then raise "the app's own"
      when "/throw" then catch(:done) { throw :done }
      when "/fiber" then Fiber.new { sleep 0.001; Fiber.yield; 1 }.tap(&:resume).resume
      when "/ractor" then Ractor.new { 3.times { Thread.new { Mutex.new.synchronize { sleep 0.0005 } }.join }; 1 }.then { |one| one.respond_to?(:value) ? one.value : one.take }
      when "/mutex" then Mutex.new.synchronize { sleep 0.0005 }
      when "/stream" then next [200, {}, Enumerator.new { |lines| 3.times { |i| sleep 0.001; lines << "data: #{i}\n\n" } }]
      when "/hijack" then next [200, {"rack.hijack" => ->(io) { io.write("over"); io.close }}, []]
      when "/websocket"
        io = env["rack.hijack"].call
        io.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        io.write(io.readpartial(5))
        io.close
        next [-1, {}, []]
      when "/body" then env["rack.input"].read
      else 300.times { |i| i.to_s }; sleep 0.0005
      end
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
    run lambda { |env|
      begin
        app.call(env)
      ensure
        counted.syswrite("x")
      end
    }
  RUBY

  # A server with the probe, and clients that have counted what they were answered.
  class Served
    attr_reader :server, :answered_count, :broken_count, :statuses, :app

    def initialize(server, app)
      @server, @app = server, app
      @answered_count = @broken_count = 0
      @statuses = Hash.new(0)
      @lock = Mutex.new
    end

    def port = server.url[/\d+\z/].to_i

    def answered(count = 1, status: nil)
      @lock.synchronize do
        @answered_count += count
        @statuses[status] += count
      end
    end

    # Asks over connections that are kept, in threads of its own, until the block ends.
    def under_load(*paths, clients: 4)
      stop = false
      threads = Array.new(clients) { |i| Thread.new { ask(paths.cycle.lazy.drop(i)) { stop } } }
      yield
    ensure
      stop = true
      threads.each(&:join)
    end

    def ask(paths)
      http = nil
      paths.each do |path|
        break http&.finish if yield
        http ||= Net::HTTP.start("127.0.0.1", port, read_timeout: 30)
        answered(status: http.get(path).code)
      rescue SystemCallError, IOError, Net::HTTPBadResponse, Net::ReadTimeout
        @lock.synchronize { @broken_count += 1 }
        http = nil
        sleep 0.01
      end
    end

    # One after the other.
    def get(*paths)
      Net::HTTP.start("127.0.0.1", port) { |http| paths.each { |path| answered(status: http.get(path).code) } }
    end

    def counted_by_app = File.size(File.join(app.folder, "served"))

    def recorded
      Probe::Ledger.sum(Probe::Ledgers.of_run(server.directory).read.values).values.select { |entry| entry.kind == :request }
    end

    def recorded_count = recorded.sum { |entry| entry.counts.first }

    include PumaTuner
  end

  # @yieldparam served [Served]
  def serve(*options, topology: "1x3", puma_rb: nil, environment: {}, gemfile: nil, rackup: RACKUP, locks: false)
    ServedApp.open(rackup:, puma_rb:) do |app|
      command = Host::Command.new(words: ["bundle", "exec", "puma", *options], directory: app.folder,
        environment: (gemfile ? app.environment(gemfile:) : app.environment).merge(environment))
      Host::ServerProcess.run(command, topology: Topology.parse(topology), measure: true, locks:) { |server| yield Served.new(server, app) }
    end
  end

  # The client has its response before the server has recorded it, so there is some time for that; then the counts are told.
  #
  # @param stopped_in_flight [Integer] how many connections may have a 500 of Puma's own, which never reached the app: a
  #   worker that stops gives one to a kept connection whose next request comes at that moment (puma/puma#4015)
  def assert_agree(served, killed_in_flight: 0, stopped_in_flight: 0, limit_s: 10)
    deadline = monotonic_s + limit_s
    by_puma = stopped_in_flight.zero? ? 0 : served.statuses["500"]
    by_app = served.answered_count - by_puma
    recorded = counted = nil
    loop do
      recorded, counted = served.recorded_count, served.counted_by_app
      break if recorded >= [counted, by_app].max - killed_in_flight || monotonic_s > deadline
      sleep 0.02
    end
    counts = "#{recorded} recorded, #{counted} counted by the app, #{served.answered_count} answered #{served.statuses}, " \
      "#{served.broken_count} broken"
    assert_operator by_puma, :<=, stopped_in_flight, counts
    assert_operator by_app, :>, 10
    assert_in_delta by_app, recorded, killed_in_flight, counts
    assert_in_delta counted, recorded, killed_in_flight, counts
    assert_equal by_app, counted, counts if killed_in_flight.zero?
  end

  def wait_for_new_workers(served, before, all: false)
    wait_until("new workers", limit_s: 40) do
      now = served.server.serving_pids
      now.size >= before.size && (all ? (now & before).empty? : (now - before).any?)
    end
  end

  test "a killed worker's requests stay in the figures" do
    serve(topology: "2x2") do |served|
      before = served.server.serving_pids
      served.under_load("/") do
        sleep 0.3
        Process.kill(:KILL, before.first)
        wait_for_new_workers(served, before)
        sleep 0.3
      end
      assert_agree(served, killed_in_flight: 4)
    end
  end

  test "the master is killed: what its workers have recorded stays" do
    serve(topology: "2x2") do |served|
      served.under_load("/") do
        sleep 0.3
        Process.kill(:KILL, served.server.announcement["pid"])
        sleep 0.5
      end
      assert_agree(served, killed_in_flight: 4)
    end
  end

  test "a reader is killed in the middle of reading, and a worker begins after it" do
    serve(topology: "2x2") do |served|
      script = <<~RUBY
        ledgers = PumaTuner::Probe::Ledgers.of_run(#{served.server.directory.inspect})
        $stdout.sync = true
        loop { ledgers.read; ledgers.fold_ended; print 1 }
      RUBY
      before = served.server.serving_pids
      served.under_load("/") do
        IO.popen([RbConfig.ruby, "-I", Probe::LIBRARY_FOLDER, "-rpuma_tuner/probe", "-e", script, {err: File::NULL}]) do |reader|
          reader.read(3)
          Process.kill(:KILL, reader.pid)
        end
        Process.kill(:TERM, before.first)
        wait_for_new_workers(served, before)
        sleep 0.2
      end
      assert_agree(served, stopped_in_flight: 4)
    end
  end

  test "a phased restart loses no request" do
    serve(topology: "2x2", puma_rb: "preload_app! false\n") do |served|
      before = served.server.serving_pids
      served.under_load("/") do
        sleep 0.2
        Process.kill(:USR1, served.server.announcement["pid"])
        wait_for_new_workers(served, before, all: true)
        sleep 0.2
      end
      assert_agree(served, stopped_in_flight: 4)
    end
  end

  test "restart in place: the process goes on under the same id, in a new ledger" do
    serve do |served|
      served.under_load("/") do
        sleep 0.2
        Process.kill(:USR2, served.server.announcement["pid"])
        sleep 2
      end
      assert_operator Probe::Ledgers.of_run(served.server.directory).paths.size, :>=, 2
      assert_agree(served, stopped_in_flight: 4)
    end
  end

  test "workers that are forked from a worker, and forked anew" do
    serve("--fork-worker", topology: "3x2") do |served|
      before = served.server.serving_pids
      served.under_load("/") do
        sleep 0.2
        Process.kill(:URG, served.server.announcement["pid"])
        wait_for_new_workers(served, before)
        sleep 0.3
      end
      assert_agree(served, stopped_in_flight: 4)
    end
  end

  test "an app that is loaded before the workers are forked, and has asked for the probe itself" do
    puma_rb = "preload_app!\nrequire \"puma_tuner/probe\"\nPumaTuner.measure(\"before the fork\") { 1 }\nPumaTuner.run(interval_s: 0.5)\n"
    serve(topology: "2x2", puma_rb:) do |served|
      served.under_load("/") { sleep 0.7 }
      assert_agree(served)
    end
  end

  test "requests that fork are recorded once" do
    serve { |served| served.under_load("/fork", "/") { sleep 0.7 } && assert_agree(served) }
  end

  ODD_PATHS = %w[/timeout /thread /throw /fiber /mutex /raise /].freeze

  test "timeouts, threads that are killed, exceptions, throw, fibers, with locks watched" do
    serve("-q", locks: true) { |served| served.under_load(*ODD_PATHS) { sleep 1 } && assert_agree(served) }
  end

  # One at a time: two Ractors that start threads at once can hang Ruby 3.4 itself.
  test "Ractors beside watched locks do no harm" do
    serve(locks: true) do |served|
      served.under_load("/ractor", "/mutex", "/", clients: 1) { wait_until("twenty answers") { served.answered_count > 20 } }
      assert_agree(served)
    end
  end

  test "ten thousand different paths do not fill the ledger" do
    serve do |served|
      path = ->(i, n) { "/p#{i}x#{n.to_s(26).tr("0-9", "a-j")}/#{"q" * (n % 7)}?secret=#{n}" }
      Array.new(4) { |i| Thread.new { served.get(*Array.new(2_500) { |n| path.call(i, n) }) } }.each(&:join)
      assert_agree(served)
      assert_operator served.recorded.size, :<=, 200
      assert_empty served.recorded.map(&:name).grep(/secret/)
    end
  end

  test "streams, hijacked responses and websockets" do
    serve do |served|
      served.under_load("/stream", "/hijack", clients: 2) { sleep 0.5 }
      5.times do
        TCPSocket.open("127.0.0.1", served.port) do |socket|
          socket.write("GET /websocket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
          assert_match(/ 101 /, socket.gets("\r\n\r\n"))
          socket.write("hello")
          assert_equal "hello", socket.read
          served.answered
        end
      end
      assert_agree(served)
    end
  end

  test "pipelined requests, and clients that send byte by byte" do
    serve do |served|
      TCPSocket.open("127.0.0.1", served.port) do |socket|
        socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 19 + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        served.answered(socket.read.scan("HTTP/1.1 200").size)
      end
      Array.new(3) {
        Thread.new do
          TCPSocket.open("127.0.0.1", served.port) do |socket|
            head = "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\nConnection: close\r\n\r\n"
            "#{head}#{"b" * 20}".each_char { |char| socket.write(char) && sleep(0.001) }
            served.answered(socket.read.scan("HTTP/1.1 200").size)
          end
        end
      }.each(&:join)
      served.under_load("/") { sleep 0.2 }
      assert_agree(served)
    end
  end

  # A server on its own, with `PumaTuner.run` in its puma.rb. What it has recorded can't be read from outside of its
  # namespace: its own lines tell that it serves and what it says.
  def in_hostile_place(before, environment: {})
    words = in_namespace(before)
    ServedApp.open(rackup: RACKUP, puma_rb: "threads 2, 2\nrequire \"puma_tuner/probe\"\nPumaTuner.run(interval_s: 0.3)\n") do |app|
      port = app.start(extra: environment, before: words)
      codes = ServedApp.request(port, "/", clients: 3, each: 20)
      assert_equal [200], codes.uniq
      assert_equal 60, File.size(File.join(app.folder, "served"))
      sleep 0.5
      yield app.stop
    end
  end

  test "the app serves on where neither memory nor disk can be written" do
    in_hostile_place("mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /tmp2 2>/dev/null; true", environment: {"TMPDIR" => "/proc"}) do |lines|
      skip "/tmp can be written" if lines.grep(/nothing is recorded/).empty? && lines.grep(/cpu:/).any?
      assert_equal 1, lines.grep(/puma_tuner: /).size, lines.join("\n")
    end
  end

  test "a place that is full" do
    in_hostile_place("mount -t tmpfs -o size=100k none /dev/shm") do |lines|
      assert_equal 1, lines.grep(/puma_tuner: .*No space left/).size, lines.join("\n")
    end
  end

  test "a place that becomes full while it serves" do
    in_hostile_place("mount -t tmpfs -o size=800k none /dev/shm && head -c 400000 /dev/zero > /dev/shm/filled") do |lines|
      assert_operator lines.grep(/cpu: /).size, :>, 0, lines.join("\n")
    end
  end

  test "the app serves on without /proc" do
    in_hostile_place("mount -t tmpfs none /proc") { |lines| assert_operator lines.grep(/cpu: /).size, :>, 0, lines.join("\n") }
  end

  OTHER_TOOLS = "#{ServedApp::PROJECT}/gemfiles/other_tools.gemfile"
  EXPORTERS = "#{ServedApp::PROJECT}/gemfiles/exporters.gemfile"

  # By name: Ruby for the rackup file, and the Gemfile that has it.
  OTHERS = {
    "gvltools" => [<<~RUBY, OTHER_TOOLS],
      require "gvltools"
      [GVLTools::LocalTimer, GVLTools::GlobalTimer, GVLTools::WaitingThreads].each(&:enable)
    RUBY
    "gvl_timing" => [<<~RUBY, OTHER_TOOLS],
      require "gvl_timing"
      use(Class.new do
        def initialize(app) = @app = app

        def call(env)
          answer = nil
          GVLTiming.measure { answer = @app.call(env) } && answer
        end
      end)
    RUBY
    "vernier" => [<<~RUBY, OTHER_TOOLS],
      require "vernier"
      Vernier.start_profile(out: "v.json")
      Thread.new { sleep 0.4; Vernier.stop_profile }
    RUBY
    "rperf" => [<<~RUBY, OTHER_TOOLS],
      require "rperf"
      Rperf.start(output: "r.json")
      Thread.new { sleep 0.4; Rperf.stop }
    RUBY
    "OpenTelemetry" => ["require 'opentelemetry/sdk'; OpenTelemetry::SDK.configure", EXPORTERS]
  }.freeze

  OTHERS.each do |name, (code, gemfile)|
    test "beside #{name}" do
      environment = Bundler.unbundled_env.merge(ServedApp::BASE_ENVIRONMENT, "BUNDLE_GEMFILE" => gemfile).compact
      _, status = Open3.capture2e(environment, "bundle", "check", unsetenv_others: true)
      skip "its gems are not installed; bin/setup --test installs them" unless status.success?
      serve(gemfile:, rackup: "#{code}\n#{RACKUP}") { |served| served.under_load(*ODD_PATHS.first(4), "/") { sleep 1 } && assert_agree(served) }
    end
  end
end
