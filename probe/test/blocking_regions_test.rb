# frozen_string_literal: true

require "test_helper"
require "support/watched_script"
require_relative "../../labs/05-threads-against-io/database"

# Time without the GVL in the libraries that make it: real ones, each in a process of its own.
class BlockingRegionsTest < TunerTest
  # Two threads want the one connection, which the first keeps until the other has waited for 50 ms.
  STARVED = <<~RUBY
    PumaTuner::Probe.recording
    PumaTuner::Probe::BlockingRegions.look_for_libraries
    order = Queue.new
    first = Thread.new { POOL.call { order << 1; sleep 0.001 until $second&.stop?; sleep 0.05 } }
    order.pop
    $second = Thread.new { PumaTuner.measure("starved") { POOL.call { sleep 0.01 } } }
    [$second, first].each(&:join)
  RUBY

  # @return [PumaTuner::Probe::Budget] of the thread that had to wait
  def starved_budget(pool)
    WatchedScript.snapshot(pool + STARVED, gemfile: WatchedScript::LIBRARIES).jobs.find { |job| job.name == "starved" }.budget
  end

  def assert_waited_for_the_pool(budget)
    assert_operator budget.pool_ns, :>=, 25_000_000
    assert_operator budget.lock_ns, :>=, budget.pool_ns
    assert_operator budget.io_ns, :<, budget.pool_ns / 2
    # Less the microseconds of CPU that falling asleep and waking up take.
    assert_operator budget.sleep_ns, :>=, 9_900_000
  end

  test "waiting for a connection of the connection_pool gem counts as pool wait" do
    assert_waited_for_the_pool(starved_budget(<<~RUBY))
      require "connection_pool"
      CONNECTIONS = ConnectionPool.new(size: 1, timeout: 5) { Object.new }
      POOL = ->(&work) { CONNECTIONS.with { work.call } }
    RUBY
  end

  test "waiting for a connection of Active Record counts as pool wait" do
    assert_waited_for_the_pool(starved_budget(<<~RUBY))
      require "active_record"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:", pool: 1)
      POOL = ->(&work) { ActiveRecord::Base.connection_pool.with_connection { work.call } }
    RUBY
  end

  test "waiting for a connection of Sequel counts as pool wait" do
    assert_waited_for_the_pool(starved_budget(<<~RUBY))
      require "sequel"
      DB = Sequel.connect("sqlite::memory:", max_connections: 1)
      POOL = ->(&work) { DB.synchronize { work.call } }
    RUBY
  end

  test "bcrypt counts as computing without the GVL" do
    budget = WatchedScript.snapshot(<<~RUBY, gemfile: WatchedScript::LIBRARIES).jobs.first.budget
      require "bcrypt"
      PumaTuner::Probe.recording
      PumaTuner::Probe::BlockingRegions.look_for_libraries
      PumaTuner.measure("hash") { BCrypt::Password.create("secret", cost: 9) }
    RUBY
    # On a busy machine it has no core for some of the time, which is preempted, and no wait.
    assert_operator (budget.cpu_ns + budget.preempted_ns).fdiv(budget.wall_ns), :>, 0.8
    assert_operator budget.io_ns, :<, budget.cpu_ns / 5
  end

  # A thread that answers each connection after 50 ms, and what talks to it as a job.
  WITH_SERVER = <<~RUBY
    require "socket"
    server = TCPServer.new("127.0.0.1", 0)
    PORT = server.local_address.ip_port
    Thread.new do
      loop do
        Thread.new(server.accept) do |client|
          ANSWERS.call(client) { sleep 0.05 }
        rescue SystemCallError, IOError
          nil
        ensure
          client.close
        end
      end
    end
  RUBY

  HTTP = <<~RUBY
    ANSWERS = lambda do |client, &wait|
      while (line = client.gets)
        next unless line == "\\r\\n"
        wait.call
        client.write("HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
      end
    end
  RUBY

  # @return [PumaTuner::Probe::Budget] of the job that the script makes
  def job_budget(script, gemfile: WatchedScript::LIBRARIES)
    WatchedScript.snapshot(script, gemfile:).jobs.find { |job| job.name == "talks" }.budget
  end

  def assert_waited_for(kind, budget)
    told = budget.to_h.slice(:io_ns, :db_ns, :redis_ns, :http_ns, :file_ns, :sleep_ns)
    # Less the microseconds of CPU that falling asleep and waking up take.
    assert_operator budget.part_ns(kind), :>=, 49_000_000, told
    assert_operator budget.io_ns, :>=, budget.part_ns(kind)
    assert_operator (%i[db redis http file] - [kind]).sum { |other| budget.part_ns(other) }, :<, budget.part_ns(kind) / 10, told
    assert_operator budget.sleep_ns, :<, budget.part_ns(kind) / 10, told
  end

  test "Net::HTTP, with its connection, and its methods as private as they were" do
    budget = job_budget(<<~RUBY)
      #{HTTP}#{WITH_SERVER}
      require "net/http"
      PumaTuner::Probe.recording
      raise "public" unless Net::HTTP.private_method_defined?(:transport_request) && Net::HTTP.private_method_defined?(:connect)
      PumaTuner.measure("talks") { Net::HTTP.get(URI("http://127.0.0.1:\#{PORT}/")) == "ok" or raise "no response" }
    RUBY
    assert_waited_for :http, budget
    assert_operator budget.io_ns - budget.http_ns, :<, budget.http_ns / 10
  end

  {
    "excon" => "Excon.get(URL).body", "http" => "HTTP.get(URL).to_s",
    "httpclient" => "HTTPClient.new.get_content(URL)", "httpx" => "HTTPX.get(URL).to_s"
  }.each do |library, answer|
    test "the gem #{library}, with its connection and the body" do
      budget = job_budget(<<~RUBY, gemfile: WatchedScript::CLIENTS)
        #{HTTP}#{WITH_SERVER}
        require "#{library}"
        URL = "http://127.0.0.1:\#{PORT}/"
        PumaTuner::Probe.recording
        PumaTuner.measure("talks") { #{answer} == "ok" or raise "no response" }
      RUBY
      assert_waited_for :http, budget
      assert_operator budget.io_ns - budget.http_ns, :<, budget.http_ns / 10
    end
  end

  # One key alone, and several at once, which take another way through the gem.
  {"one key" => 'cache.get("a")', "several keys" => 'cache.get_multi("a", "b")'}.each do |title, call|
    test "memcached by the gem dalli counts as redis: #{title}" do
      assert_waited_for :redis, job_budget(<<~RUBY, gemfile: WatchedScript::CLIENTS)
        ANSWERS = lambda do |client, &wait|
          while (line = client.gets)
            case line
            when /\\Aversion/ then client.write("VERSION 1.6.40\\r\\n")
            when /\\Amn/ then wait.call && client.write("MN\\r\\n")
            when /\\Amg .* q/ then nil # quiet: a miss is not told
            when /\\Amg/ then wait.call && client.write("EN\\r\\n")
            end
          end
        end
        #{WITH_SERVER}
        require "dalli"
        Dalli.logger.level = :fatal
        PumaTuner::Probe.recording
        cache = Dalli::Client.new("127.0.0.1:\#{PORT}")
        PumaTuner.measure("talks") { #{call} }
      RUBY
    end
  end

  test "a library that is loaded later is known once a job has occurred" do
    budget = job_budget(<<~RUBY)
      #{HTTP}#{WITH_SERVER}
      PumaTuner::Probe.recording
      PumaTuner.measure("first") { require "net/http" }
      PumaTuner.measure("talks") { Net::HTTP.get(URI("http://127.0.0.1:\#{PORT}/")) }
    RUBY
    assert_waited_for :http, budget
  end

  test "RedisClient, which redis and Sidekiq use" do
    assert_waited_for :redis, job_budget(<<~RUBY)
      ANSWERS = lambda do |client, &wait|
        while (count = client.gets)
          words = Array.new(count[/\\d+/].to_i) { client.gets && client.gets.chomp }
          wait.call if words.first == "GET"
          client.write((words.first == "HELLO") ? "%1\\r\\n+proto\\r\\n:3\\r\\n" : "+ok\\r\\n")
        end
      end
      #{WITH_SERVER}
      require "redis-client"
      PumaTuner::Probe.recording
      redis = RedisClient.config(host: "127.0.0.1", port: PORT).new_client
      PumaTuner.measure("talks") { redis.call("GET", "a") == "ok" or raise "no response" }
    RUBY
  end

  test "a database that sqlite3 waits for with a sleep of its own" do
    assert_waited_for :db, job_budget(<<~RUBY)
      require "sqlite3"
      require "tmpdir"
      PumaTuner::Probe.recording
      Dir.mktmpdir do |folder|
        one, two = Array.new(2) { SQLite3::Database.new(File.join(folder, "database")).tap { |database| database.busy_handler_timeout = 5_000 } }
        one.execute("CREATE TABLE things (name)")
        one.execute("BEGIN IMMEDIATE")
        waiting = Thread.new { PumaTuner.measure("talks") { two.execute("INSERT INTO things VALUES ('a')") } }
        sleep 0.001 until waiting.stop?
        sleep 0.07
        one.execute("COMMIT")
        waiting.join
      end
    RUBY
  end

  test "queries and connecting by the gem trilogy count as db" do
    database = Demo::Database.new
    database.start
    budget = job_budget(<<~RUBY, gemfile: "#{ServedApp::PROJECT}/Gemfile")
      require "trilogy"
      PumaTuner::Probe.recording
      PumaTuner.measure("talks") { Trilogy.new(socket: #{database.address.inspect}, username: "root").query("SELECT SLEEP(0.3)") }
    RUBY
    assert_waited_for :db, budget
    assert_operator budget.io_ns - budget.db_ns, :<, budget.db_ns / 10
  ensure
    database.stop
  end

  # Drivers that are not among this project's gems, by what they are: a class whose methods in C wait.
  {"Mysql2::Client" => :db, "PG::Connection" => :db, "RedisClient::HiredisConnection" => :redis, "Curl::Easy" => :http}.each do |name, kind|
    test "#{name}, by its class" do
      assert_waited_for kind, job_budget(<<~RUBY, gemfile: nil)
        require "socket"
        module #{name.split("::").first}; end
        class #{name} < UNIXSocket; end
        PumaTuner::Probe.recording
        ours, theirs = #{name}.pair
        waiting = Thread.new { PumaTuner.measure("talks") { ours.read(1) } }
        sleep 0.001 until waiting.stop?
        sleep 0.05
        theirs.write("x")
        waiting.join
      RUBY
    end
  end

  test "an app's own constants of a library's name are left alone" do
    snapshot = WatchedScript.snapshot(<<~RUBY)
      HTTP = "http"
      Curl = Module.new { const_set(:Easy, :easy) }
      class Dalli; class Client; end; end
      PumaTuner::Probe.recording
      PumaTuner.measure("talks") { Dalli::Client.new }
    RUBY
    assert_equal ["talks"], snapshot.jobs.map(&:name)
  end
end
