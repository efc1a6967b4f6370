# frozen_string_literal: true

require "support/served_app"

# Small apps, each with one thing to advise about, and some with none. Their recordings in test/fixtures/advise are made
# by record.rb.
module AdvisedApps
  # paths: what is asked for, as often as each stands there; gems: name of a Gemfile in gemfiles/; reuse: requests over
  #   a connection, "LEAST:MOST"; think_ms: of a client between two requests
  App = Data.define(:rackup, :topology, :paths, :connections_count, :gems, :puma_rb, :environment, :reuse, :think_ms) do
    def initialize(rackup:, topology: "1x5", paths: %w[/], connections_count: 10, gems: "puma_8_0", puma_rb: nil, environment: {}, reuse: nil, think_ms: 0) = super

    def gemfile = File.join(ServedApp::PROJECT, "gemfiles/#{gems}.gemfile")
  end

  # compute: some milliseconds with the GVL; wait_for_io: a pipe that nobody writes to; query: a database's client, as far
  # as its name tells.
  HELPERS = <<~RUBY
    OK = [200, {"content-type" => "text/plain"}, ["fine"]].freeze
    READER, WRITER = IO.pipe
    def compute(ms)
      until_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) + ms * 1_000_000
      200.times { |i| i * i } while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) < until_ns
    end
    def wait_for_io(ms) = READER.wait_readable(ms / 1000.0)
    module PG
      Connection = Class.new(IO)
    end
    DATABASE = PG::Connection.for_fd(READER.fileno, autoclose: false)
    def query(ms) = DATABASE.wait_readable(ms / 1000.0)
  RUBY

  def self.app(rackup, **options) = App.new(rackup: HELPERS + rackup, **options)

  ALL = {
    # Nothing to say but about workers and threads.
    "cpu" => app("run ->(env) { compute(4); OK }", topology: "1x1"),
    "io" => app("run ->(env) { 3.times { compute(0.3); wait_for_io(8) }; OK }", topology: "2x5"),
    "realistic" => app("run ->(env) { 4.times { compute(1); query(4) }; OK }", topology: "2x3", connections_count: 6),
    # A pool of connections that is smaller than the threads.
    "starved_pool" => app(<<~RUBY, gems: "rails_8_1"),
      require "connection_pool"
      POOL = ConnectionPool.new(size: 2, timeout: 20) { Object.new }
      run ->(env) { compute(0.5); POOL.with { wait_for_io(8) }; OK }
    RUBY
    "lock" => app(<<~RUBY),
      LOCK = Mutex.new
      run ->(env) { compute(1); LOCK.synchronize { wait_for_io(4) }; OK }
    RUBY
    # Many small files, or a log of many lines: the GVL is let go of again and again.
    "small_files" => app(<<~RUBY, topology: "2x5"),
      PATHS = Array.new(24) { |i| File.join(Dir.pwd, "\#{i}.txt").tap { |path| File.write(path, "x" * 200) } }
      run ->(env) { PATHS.each { |path| File.read(path); compute(0.05) }; OK }
    RUBY
    "garbage" => app(<<~RUBY),
      KEPT = Array.new(300_000) { |i| "kept \#{i}" }
      run ->(env) { Array.new(12_000) { |i| "\#{i} is garbage" }; wait_for_io(2); OK }
    RUBY
    "slow_endpoint" => app(<<~RUBY, paths: %w[/fast] * 9 + %w[/report]),
      run ->(env) { (env["PATH_INFO"] == "/report") ? compute(120) : (compute(1); wait_for_io(5)); OK }
    RUBY
    "background" => app(<<~RUBY, topology: "1x3"),
      Thread.new { Thread.current.name = "solid_queue_worker"; loop { compute(5); sleep(0.008) } }
      run ->(env) { compute(1); wait_for_io(6); OK }
    RUBY
    # One endpoint that waits for another server, beside one that computes.
    "upstream" => app(<<~RUBY, topology: "1x3", paths: %w[/page /page /upstream], connections_count: 12),
      run ->(env) { (env["PATH_INFO"] == "/upstream") ? wait_for_io(120) : compute(4); OK }
    RUBY
    "io_threads" => app(<<~RUBY, topology: "1x3", puma_rb: "max_io_threads 5\n"),
      run ->(env) { env["puma.mark_as_io_bound"]&.call; compute(0.3); wait_for_io(20); OK }
    RUBY
    "one_thread_workers" => app("run ->(env) { compute(2); wait_for_io((rand < 0.1) ? 40 : 2); OK }", topology: "3x1", gems: "puma_7_2", reuse: "1:1"),
    "many_queries" => app("run ->(env) { 40.times { compute(0.05); query(1) }; compute(1); OK }", topology: "1x5"),
    "yjit_full" => app(<<~RUBY, topology: "1x1", environment: {"RUBYOPT" => "--yjit --yjit-mem-size=1 --yjit-call-threshold=2"}),
      400.times { |n| eval("def method_\#{n}(a) = [a, a + \#{n}, a * 2, a.to_s, a.hash, {a => \#{n}}].map { |x| x.to_s + 'b' }.sort.join(',')") }
      run ->(env) { 400.times { |n| send(:"method_\#{n}", n) }; OK }
    RUBY
    # Few clients that keep their connections, each with whichever worker was first when all were idle.
    "kept_connections" => app("run ->(env) { compute(1); wait_for_io(3); OK }", topology: "3x2", connections_count: 4, think_ms: 10),
    "no_preload" => app("run ->(env) { compute(1); wait_for_io(3); OK }", topology: "2x3", puma_rb: "preload_app! false\n")
  }.freeze
end
