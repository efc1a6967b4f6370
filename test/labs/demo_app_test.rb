# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../labs/05-threads-against-io/database"
require_relative "demo_server"

class DemoAppTest < TunerTest
  time_limit 150

  ENDPOINTS = %w[/realistic /io-only /cpu-only /lock-bound /allocating].freeze
  MARIADB = %w[/usr/sbin/mariadbd /usr/local/sbin/mariadbd].any? { |path| File.executable?(path) } ||
    ENV["PATH"].split(":").any? { |folder| File.executable?(File.join(folder, "mariadbd")) }

  def assert_ends(pid, what) = wait_until("the end of #{what}", limit_s: 30) { !DemoServer.alive?(pid) } && assert(true)

  test "answers at each endpoint, in one process and in two" do
    [[], %w[-w 2]].each do |options|
      DemoServer.run("-t", "3:3", *options) do |server|
        ENDPOINTS.each { |path| assert_equal "200", server.get(path).code, path }
        assert_equal ENDPOINTS, server.get("/").body.scan(/^\/\S+/)
        assert_equal ["404", "There is no such page.\n"], server.get("/other").then { |response| [response.code, response.body] }
        assert_equal 1, server.children.count { |_, line| line.start_with?("demo upstream") }
        refute_match(/WARNING|[Ee]rror/, server.output)
      end
    end
  end

  test "has an upstream that ends with the server, however that ends" do
    [%w[-t 2:2], %w[-t 2:2 -w 2]].product(%i[TERM KILL]).each do |options, signal|
      DemoServer.run(*options) do |server|
        server.get("/io-only")
        upstream = server.companion_pid
        server.stop(signal)
        assert_ends(upstream, "upstream after #{signal} to puma #{options.join(" ")}")
      end
    end
  end

  test "keeps its upstream while a worker is replaced" do
    DemoServer.run("-t", "2:2", "-w", "2") do |server|
      upstream = server.companion_pid
      worker = server.children.find { |_, line| line.include?("cluster worker 0") }.first
      Process.kill(:KILL, worker)
      wait_until("the next worker", limit_s: 20) { server.output.scan("Worker 0 (PID").size == 2 }
      assert_equal %w[200 200 200 200], Array.new(4) { server.get("/io-only").code }
      assert_equal upstream, server.companion_pid
    end
  end

  test "has one upstream, a new one, after a restart of the server" do
    [%w[-t 2:2], %w[-t 2:2 -w 2]].each do |options|
      assert (1..RESTARTS_COUNT).any? { restarts?(options) }, "puma #{options.join(" ")} did not restart in #{RESTARTS_COUNT} tries"
    end
  end

  # Puma itself hangs in one restart of many (in IO#close, with Ruby 3.4); that is not what is tested.
  RESTARTS_COUNT = 4
  RESTART_LIMIT_S = 12

  def restarts?(options)
    DemoServer.run(*options) do |server|
      upstream = server.companion_pid
      # What comes before Puma's server runs is lost: it has told that it can be stopped by then.
      assert_equal "200", server.get("/io-only").code
      Process.kill(:USR2, server.pid)
      deadline = monotonic_s + RESTART_LIMIT_S
      sleep 0.05 until (restarted = server.output.scan("Ctrl-C").size == 2) || monotonic_s > deadline
      next false unless restarted
      assert_ends(upstream, "the upstream of before")
      assert_equal "200", server.get("/io-only").code
      refute_equal upstream, server.companion_pid
      true
    end
  end

  test "waits at the same time in several threads" do
    DemoServer.run("-t", "6:6") do |server|
      assert_operator server.wall_ms("/io-only", 1), :>=, 40
      # One after the other takes 240 ms at least, always.
      assert(wait_until("six answers that wait beside each other") { server.wall_ms("/io-only", 6) < 240 })
    end
  end

  test "starves on a pool of two connections, however many threads there are" do
    DemoServer.run("-t", "6:6") do |server|
      # Three turns of 25 ms each.
      assert_operator server.wall_ms("/lock-bound", 6), :>=, 75
    end
  end

  test "waits for a real database on demand, and leaves nothing of it" do
    skip "needs mariadbd: apt-get install mariadb-server-core mariadb-client-core" unless MARIADB
    Dir.mktmpdir do |folder|
      %i[TERM KILL].each do |signal|
        DemoServer.run("-t", "2:2", "-w", "2", PUMA_TUNER_DEMO_DATABASE: "mariadb", TMPDIR: folder) do |server|
          %w[/realistic /lock-bound].each { |path| assert_equal ["200", "0\n"], server.get(path).then { |response| [response.code, response.body] } }
          assert_operator server.wall_ms("/io-only", 1), :>=, 40
          database = server.companion_pid
          mariadbd = DemoServer.children_of(database).keys.fetch(0)
          server.stop(signal)
          assert_ends(mariadbd, "mariadbd after #{signal}")
          assert_ends(database, "its guard after #{signal}")
        end
        assert_empty Dir.children(folder)
      end
    end
  end

  test "lends no connection that failed, and is not starved by failures" do
    require_relative "../../labs/05-threads-against-io/pool"
    made = 0
    pool = Demo::Pool.new(1) { ((made += 1) == 1) ? raise(IOError, "refused") : made }
    assert_raises(IOError) { pool.with { flunk "there is no connection to lend" } }
    assert_raises(EOFError) { pool.with { raise EOFError } }
    assert_equal [3, 3], [pool.with { |connection| connection }, pool.with { |connection| connection }]
  end

  test "says what to install when there is no MariaDB" do
    database = Demo::Database.new(search_folders: [])
    error = assert_raises(Demo::Companion::Failed) { database.start }
    assert_match(/mariadb-install-db and mariadbd not found\. Install MariaDB: .*mariadb-server-core mariadb-client-core/, error.message)
  ensure
    database&.stop
  end

  test "does not boot with a database that it does not know" do
    server = DemoServer.new(PUMA_TUNER_DEMO_DATABASE: "oracle")
    refute server.await_boot
    assert_match(/PUMA_TUNER_DEMO_DATABASE=oracle: only mariadb is known/, server.output)
  ensure
    server&.clear_up
  end
end
