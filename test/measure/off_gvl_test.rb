# frozen_string_literal: true

require "test_helper"
require "support/watched_script"

# Time without the GVL in the libraries that make it: real ones, each in a process of its own.
class OffGvlTest < TunerTest
  # Two threads want the one connection, which the first keeps until the other has waited for 50 ms.
  STARVED = <<~RUBY
    PumaTuner::Measure.recording
    PumaTuner::Measure::OffGvl.look_for_libraries
    order = Queue.new
    first = Thread.new { POOL.call { order << 1; sleep 0.001 until $second&.stop?; sleep 0.05 } }
    order.pop
    $second = Thread.new { PumaTuner.measure("starved") { POOL.call { sleep 0.01 } } }
    [$second, first].each(&:join)
  RUBY

  # @return [PumaTuner::Measure::Budget] of the thread that had to wait
  def starved_budget(pool)
    WatchedScript.snapshot(pool + STARVED, gemfile: WatchedScript::LIBRARIES).jobs.find { |job| job.name == "starved" }.budget
  end

  def assert_waited_for_the_pool(budget)
    assert_operator budget.pool_wait_ns, :>=, 25_000_000
    assert_operator budget.lock_ns, :>=, budget.pool_wait_ns
    assert_operator budget.io_ns, :<, budget.pool_wait_ns / 2
    # Less the microseconds of CPU that falling asleep and waking up take.
    assert_operator budget.sleep_ns, :>=, 9_900_000
  end

  test "waiting for a connection of the connection_pool gem" do
    assert_waited_for_the_pool(starved_budget(<<~RUBY))
      require "connection_pool"
      CONNECTIONS = ConnectionPool.new(size: 1, timeout: 5) { Object.new }
      POOL = ->(&work) { CONNECTIONS.with { work.call } }
    RUBY
  end

  test "waiting for a connection of Active Record" do
    assert_waited_for_the_pool(starved_budget(<<~RUBY))
      require "active_record"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:", pool: 1)
      POOL = ->(&work) { ActiveRecord::Base.connection_pool.with_connection { work.call } }
    RUBY
  end

  test "waiting for a connection of Sequel" do
    assert_waited_for_the_pool(starved_budget(<<~RUBY))
      require "sequel"
      DB = Sequel.connect("sqlite::memory:", max_connections: 1)
      POOL = ->(&work) { DB.synchronize { work.call } }
    RUBY
  end

  test "bcrypt computes" do
    budget = WatchedScript.snapshot(<<~RUBY, gemfile: WatchedScript::LIBRARIES).jobs.first.budget
      require "bcrypt"
      PumaTuner::Measure.recording
      PumaTuner::Measure::OffGvl.look_for_libraries
      PumaTuner.measure("hash") { BCrypt::Password.create("secret", cost: 9) }
    RUBY
    # On a busy machine it has no core for some of the time, which is preempted, and no wait.
    assert_operator (budget.cpu_ns + budget.preempted_ns).fdiv(budget.wall_ns), :>, 0.8
    assert_operator budget.io_ns, :<, budget.cpu_ns / 5
  end
end
