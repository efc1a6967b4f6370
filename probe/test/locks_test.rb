# frozen_string_literal: true

require "test_helper"
require "support/watched_script"

# Pools of connections of real libraries, and their locks, each in a process of its own.
class LocksOfLibrariesTest < TunerTest
  # Three threads want two connections, which two of them keep until the third has waited for 50 ms; in a job, so that there is a trace.
  STARVED = <<~RUBY
    PumaTuner::Probe.start(way_in: "run", locks: true)
    PumaTuner::Probe.recording
    PumaTuner::Probe::BlockingRegions.look_for_libraries
    order = Queue.new
    users = Array.new(2) { Thread.new { PumaTuner.measure("use") { POOL.call { order << 1; sleep 0.001 until $third&.stop?; sleep 0.05 } } } }
    2.times { order.pop }
    $third = Thread.new { PumaTuner.measure("use") { POOL.call { sleep 0.02 } } }
    [$third, *users].each(&:join)
  RUBY

  POOLS = {
    "connection_pool" => <<~RUBY,
      require "connection_pool"
      CONNECTIONS = ConnectionPool.new(size: 2, timeout: 5) { Object.new }
      POOL = ->(&work) { CONNECTIONS.with { work.call } }
    RUBY
    "Active Record" => <<~RUBY,
      require "active_record"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:", pool: 2)
      POOL = ->(&work) { ActiveRecord::Base.connection_pool.with_connection { work.call } }
    RUBY
    "Sequel" => <<~RUBY,
      require "sequel"
      DB = Sequel.connect("sqlite::memory:", max_connections: 2)
      POOL = ->(&work) { DB.synchronize { work.call } }
    RUBY
    "Sequel with a pool that is frozen" => <<~RUBY
      require "sequel"
      DB = Sequel.connect("sqlite::memory:", max_connections: 2).freeze
      POOL = ->(&work) { DB.synchronize { work.call } }
    RUBY
  }.freeze

  POOLS.each do |name, script|
    test "the pool of #{name} is one lock, of as many places as connections" do
      observation = WatchedScript.snapshot(script + STARVED, gemfile: WatchedScript::LIBRARIES)
      pools = observation.locks.select { |lock| lock.kind == "pool" }
      assert_equal 1, pools.size, observation.locks.inspect
      pool = pools.first
      assert_equal [2, 3, 3], [pool.size, pool.threads_count, pool.holds_count], pool.inspect
      assert_operator pool.waits_count, :>=, 1
      assert_operator pool.hold_ns, :>=, 3 * 0.99 * 20_000_000
      assert_match(/\A-e:\d+ in /, pool.place, "it is taken by the script")
      traces = observation.jobs.first.traces
      assert_equal 3, traces.size
      traces.each { |trace| assert_equal %w[acquire release], markers_of(pool, trace).map(&:first), trace.steps.inspect }
      waited = traces.select { |trace| trace.steps.each_slice(2).any? { |kind, _| kind == "pool" } }
      assert_operator waited.size, :>=, 1
      assert_operator waited.sum { |trace| pool_wait_ns(pool, trace) }, :>=, 10_000_000, waited.map(&:steps).inspect
    end
  end

  # A connection that its user throws away, in a thread that goes on.
  THROWN_AWAY = {
    "connection_pool" => "CONNECTIONS.with { sleep 0.001; CONNECTIONS.discard_current_connection }",
    "Active Record" => "ActiveRecord::Base.connection_pool.with_connection { |one| sleep 0.001; one.throw_away! }",
    "Sequel" => <<~RUBY
      begin
        DB.synchronize { sleep 0.001; raise Sequel::DatabaseDisconnectError }
      rescue Sequel::DatabaseDisconnectError
        nil
      end
      raise "public" if %i[acquire release disconnect_connection].any? { |name| DB.pool.respond_to?(name) }
    RUBY
  }.freeze

  THROWN_AWAY.each do |name, script|
    test "a connection that the pool of #{name} throws away is held no longer" do
      observation = WatchedScript.snapshot(<<~RUBY, gemfile: WatchedScript::LIBRARIES)
        #{POOLS.fetch(name)}
        PumaTuner::Probe.start(way_in: "run", locks: true)
        PumaTuner::Probe.recording
        PumaTuner::Probe::BlockingRegions.look_for_libraries
        PumaTuner.measure("use") do
          2.times do
            #{script}
          end
        end
      RUBY
      assert_equal [2], observation.locks.filter_map { |lock| lock.holds_count if lock.kind == "pool" }, observation.locks.inspect
    end
  end

  # @return [Integer] of the wait that follows the pool's marker
  def pool_wait_ns(pool, trace)
    steps = trace.steps.each_slice(2).to_a
    kind, ns = steps[steps.index(["acquire", pool.id]) + 1]
    (kind == "pool") ? ns : 0
  end

  def markers_of(pool, trace) = trace.steps.each_slice(2).select { |kind, number| %w[acquire release].include?(kind) && number == pool.id }

  test "a logger's lock is told by the logger, and held over its writes" do
    observation = WatchedScript.snapshot(<<~RUBY)
      require "logger"
      require "tempfile"
      PumaTuner::Probe.start(way_in: "run", locks: true)
      file = Tempfile.new
      file.sync = true
      logger = Logger.new(file)
      PumaTuner.measure("log") { 20.times { logger.info("x" * 100) } }
    RUBY
    lock = observation.locks.first
    assert_equal ["monitor", "Monitor", 20, 1], [lock.kind, lock.class_name, lock.holds_count, lock.threads_count]
    assert_match(/\Alog_device\.rb:\d+ in Logger::LogDevice#write\z/, lock.place)
    marks = observation.jobs.first.traces.first.steps.each_slice(2).filter_map { |kind, _| kind if %w[acquire release].include?(kind) }
    assert_equal %w[acquire release] * 20, marks
  end

  test "one way in that asks for it is enough" do
    observation = WatchedScript.snapshot(<<~RUBY)
      PumaTuner::Probe.start(way_in: "command", locks: true)
      PumaTuner.run
      PumaTuner.measure("work") { Mutex.new.synchronize { sleep 0.001 } }
    RUBY
    assert_equal ["mutex"], observation.locks.map(&:kind)
  end

  test "nobody watches locks who was not asked to, and the observation says so" do
    observation = WatchedScript.snapshot('PumaTuner.measure("work") { Mutex.new.synchronize { sleep 0.001 } }')
    assert_nil observation.locks
    assert_nil observation.probe.lock_pairs_count
    assert_includes observation.unknown, PumaTuner::Unknown.of(:locks, :not_watched)
  end
end
