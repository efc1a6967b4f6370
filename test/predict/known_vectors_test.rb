# frozen_string_literal: true

require "test_helper"
require "support/builders"

# Puma as others and we have measured it, without a load test: what the simulation says of the same settings.
class KnownVectorsTest < TunerTest
  include Builders

  time_limit 60

  US = 1_000

  # A machine like those the figures come from: Puma's own CPU, wake-ups and hand-offs as measured here.
  def real(cores_count: 2)
    machine(cores_count:, handoff_ns: 8 * US, client_cpu_ns: 16 * US, wakeup_idle_ns: [40 * US, 50 * US, 60 * US, 80 * US], wakeup_loaded_ns: [60 * US, 100 * US],
      acceptor_cpu_ns: 40 * US, reactor_wakeup_cpu_ns: 20 * US, reactor_register_cpu_ns: 10 * US)
  end

  def simulate(demands, text, connections_count, puma:, reuse_count: nil, ruby: "3.4.5", requests_count: 4_000, **machine_facts)
    arrivals = Model::Arrivals.closed(connections_count, reuse_count:)
    app = workload(endpoints: [endpoint_demand(*demands)], ruby_version: ruby).with(puma_version: puma, tail_cpu_ns: 15 * US)
    Predict::Engine.call(Predict::Plan.new(workload: app, machine: real(**machine_facts), scenario: scenario(text, arrivals), seed: 1, requests_count:))
  end

  def ms(outcome, ratio) = outcome.quantile_ns(ratio) / MS

  # Puma issue 3487: 6.4.2, -t5, sleep 0.2, 10 clients. Without keep-alive p50 420 and p99 428 ms; with it p50 205, p90 1852,
  # p99 2450 ms: some connections are served over and over, while others wait.
  test "Puma 6 serves some keep-alive connections while others starve" do
    sleeping = [demand([0.2, 0.1], [200], wait_kinds: ["sleep"])]
    fresh = simulate(sleeping, "1x5", 10, puma: "6.4.2", reuse_count: 1)
    assert_in_epsilon 420, ms(fresh, 0.5), 0.06
    assert_in_epsilon 428, ms(fresh, 0.99), 0.08
    kept = simulate(sleeping, "1x5", 10, puma: "6.4.2")
    assert_in_epsilon 205, ms(kept, 0.5), 0.05
    # One request in ten comes after a wait for ten of others: the 90th percentile lies on the edge.
    assert_in_epsilon 1_852, ms(kept, 0.91), 0.25
    assert_in_epsilon 2_450, ms(kept, 0.99), 0.25
  end

  # Ours, same app, -t 3, 10 connections: 6.6.1 p50 29 and p99 779 ms, 8.0.2 p50 82 and p99 98 ms.
  test "Puma 8 lets all connections have their turn" do
    random = Random.new(23)
    shaken = ->(steps_ms) { steps_ms.map { |step_ms| step_ms * random.rand(0.85..1.15) } }
    demands = Array.new(400) { demand(shaken.call([2, 3, 1]), shaken.call([5, 10])) }
    old, new = %w[6.6.1 8.0.2].map { |puma| simulate(demands, "1x3", 10, puma:) }
    assert_in_epsilon 29, ms(old, 0.5), 0.3
    assert_operator ms(old, 0.99), :>, 300
    assert_in_epsilon 82, ms(new, 0.5), 0.08
    assert_in_epsilon 98, ms(new, 0.99), 0.2
  end

  # Attachment of Ruby bug 21685: Puma 7.2.0, -w2 -t5, 5 ms of sleep, 60 clients: 1,954 requests/s, p50 30.6, p99 31.7 ms.
  test "two workers of five threads that sleep" do
    outcome = simulate([demand([0.05, 0.05], [5.06], wait_kinds: ["sleep"])], "2x5", 60, puma: "7.2.0", cores_count: 8, requests_count: 20_000)
    assert_in_epsilon 1_954, outcome.throughput_per_s, 0.05
    assert_in_epsilon 30.6, ms(outcome, 0.5), 0.08
  end

  # Measured on Puma 8.0.2 and Ruby 4.0.5: one process, CPU 2, wait 5, CPU 3, wait 10, CPU 1 ms, 10 connections, 16 for eight threads.
  MEASURED_PER_S = {1 => 46.7, 2 => 88.7, 3 => 125.1, 5 => 160.3, 8 => 162.1}.freeze

  MEASURED_PER_S.each do |threads_count, measured_per_s|
    test "#{threads_count} threads: the throughput is within 5 % of a real server's" do
      random = Random.new(23)
      shaken = ->(steps_ms) { steps_ms.map { |step_ms| step_ms * random.rand(0.85..1.15) } }
      demands = Array.new(400) { demand(shaken.call([2, 3, 1]), shaken.call([5.08, 10.08])) }
      outcome = simulate(demands, "1x#{threads_count}", (threads_count == 8) ? 16 : 10, puma: "8.0.2", ruby: "4.0.5", requests_count: 10_000)
      assert_in_epsilon measured_per_s, outcome.throughput_per_s, 0.05
    end
  end
end
