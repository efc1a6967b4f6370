# frozen_string_literal: true

require "test_helper"
require "support/oracles"
require "support/simulated_threads"

# Threads with a GVL of their own each, so that only cores are short.
class CoresTest < TunerTest
  # @return [Array<Float>] milliseconds at which they end
  def ends_ms(*begins_and_bursts, limit_ms: 10_000, **cores)
    threads = SimulatedThreads.new(**cores)
    scripted = begins_and_bursts.map { |at_ms, burst_ms| threads.thread([burst_ms], at_ms:, gvl: threads.new_gvl) }
    threads.run_until_ms(limit_ms)
    scripted.map { |thread| thread.done_ns.fdiv(1_000_000).round(2) }
  end

  test "each task has a core to itself where there are enough" do
    assert_equal [100.0, 40.0], ends_ms([0, 100], [10, 30], effective_cores: [1.0, 2.0])
  end

  test "more tasks than cores share them evenly, until one is done" do
    assert_equal [130.0, 60.0], ends_ms([0, 100], [0, 30], effective_cores: [1.0])
  end

  test "tasks that come later share the cores that are left" do
    # 60 left for two, 100 for one, at two thirds each: 90 later two are done, and the third has 40 to go.
    assert_equal [130.0, 130.0, 170.0], ends_ms([0, 100], [0, 100], [40, 100], effective_cores: [1.0, 2.0])
  end

  test "two tasks on siblings of one core get what was measured for two" do
    assert_equal [160.0, 160.0], ends_ms([0, 100], [0, 100], effective_cores: [1.0, 1.25])
  end

  test "a quota is spent by all together, and then all stand still until the next period" do
    # Both compute until 25 ms, when 50 ms of CPU are spent; then again from 100 to 125.
    assert_equal [110.0, 115.0], ends_ms([0, 35], [0, 40], effective_cores: [1.0, 2.0], quota_ms: 50)
  end

  # Processor sharing gives the throughput of first come, first served, however uneven the bursts.
  test "a closed network around one shared core is as fast as theory says" do
    random = Random.new(11)
    bursts_ms = Array.new(1_000) { (random.rand < 0.9) ? 0.4 : 6.4 }
    threads = SimulatedThreads.new(effective_cores: [1.0])
    customers = Array.new(6) { threads.thread(bursts_ms.shuffle(random:), [4] * 100_000, gvl: threads.new_gvl) }
    threads.run_until_ms(60_000)
    exact = Oracles.repairmen(customers_count: 6, servers_count: 1, think: 4.0, service: bursts_ms.sum / 1_000)
    assert_in_epsilon exact[:throughput], customers.sum(&:rounds_count) / 60_000.0, 0.015
  end
end
