# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/oracles"

class SimulationTest < TunerTest
  include Builders

  def simulate(workload, text, seed: 1, requests_count: 2_000, on: machine)
    Predict::Simulation.new(workload:, machine: on, topology: topology(text), seed:, requests_count:).call
  end

  # @param means_ms [Array<Numeric>] bursts and waits in turn, each exponential with that mean
  def exponential_endpoint(*means_ms, random: Random.new(17), count: 3_000)
    columns = means_ms.map { |mean_ms| mean_ms.zero? ? [0] * count : Oracles.exponential(count, mean_ms.to_f, random) }
    endpoint_demand(*columns.transpose.map { |steps| demand(steps.values_at(*(0...steps.size).step(2)), steps.values_at(*(1...steps.size).step(2))) })
  end

  # The request of the measured table: CPU 2, wait 5, CPU 3, wait 10, CPU 1 ms, each shaken by up to 15 %.
  def measured_workload(connections_count)
    random = Random.new(23)
    shaken = ->(steps_ms) { steps_ms.map { |ms| ms * random.rand(0.85..1.15) } }
    demands = Array.new(400) { demand(shaken.call([2, 3, 1]), shaken.call([5, 10])) }
    workload(endpoints: [endpoint_demand(*demands)], connections_count:, overhead_cpu_ns: 40_000)
  end

  test "the same seed gives the same outcome, another seed another" do
    workload = workload(endpoints: [exponential_endpoint(2, 5, 1)])
    assert_equal simulate(workload, "2x3"), simulate(workload, "2x3")
    refute_equal simulate(workload, "2x3").latencies_ns, simulate(workload, "2x3", seed: 2).latencies_ns
  end

  test "an undisturbed request takes what it demands, and the overhead" do
    outcome = simulate(workload(connections_count: 1, overhead_cpu_ns: MS), "1x1")
    assert_equal [22 * MS], outcome.latencies_ns.uniq
    assert_equal 2_000, outcome.latencies_ns.size
    assert_in_delta 1_000 / 22.0, outcome.throughput_per_s
    assert_in_delta 7 / 22.0, outcome.cores_used
    assert_in_delta 0, outcome.gvl_wait_ns
  end

  test "one GVL, requests of one burst: as theory says of a single server" do
    bursts = exponential_endpoint(2)
    exact = Oracles.repairmen(customers_count: 8, servers_count: 1, think: 20.0, service: 2.0)
    outcome = simulate(workload(endpoints: [bursts], connections_count: 8, think_ms: 20), "1x8", requests_count: 40_000)
    assert_in_epsilon exact[:throughput] * 1_000, outcome.throughput_per_s, 0.02
    assert_in_epsilon exact[:present] / exact[:throughput] * MS, outcome.mean_ns, 0.03
    assert_in_epsilon outcome.mean_ns - 2 * MS, outcome.gvl_wait_ns, 0.03
  end

  test "a few threads that only wait: as theory says of as many servers" do
    waits = exponential_endpoint(0, 10, 0)
    exact = Oracles.repairmen(customers_count: 12, servers_count: 3, think: 20.0, service: 10.0)
    outcome = simulate(workload(endpoints: [waits], connections_count: 12, think_ms: 20), "1x3", requests_count: 40_000)
    assert_in_epsilon exact[:throughput] * 1_000, outcome.throughput_per_s, 0.02
    assert_in_epsilon exact[:present] / exact[:throughput] * MS, outcome.mean_ns, 0.03
    assert_in_epsilon outcome.mean_ns - 10 * MS, outcome.queue_ns, 0.03
  end

  test "bursts and waits in turn: as exact mean value analysis says" do
    mixed = workload(endpoints: [exponential_endpoint(2, 6, 2, 9, 2)], connections_count: 5)
    exact = Predict::ClosedForm.new(mixed, machine, topology("1x5")).forms.mva_per_s
    assert_in_epsilon exact, simulate(mixed, "1x5", requests_count: 40_000).throughput_per_s, 0.02
  end

  test "connections are what is under way and what thinks: Little's law" do
    endpoints = [exponential_endpoint(2, 6, 1)]
    %w[1x1 1x4 2x2 4x3].product([0, 15]).each do |text, think_ms|
      outcome = simulate(workload(endpoints:, connections_count: 10, think_ms:), text, requests_count: 4_000, on: machine(cores_count: 2.0))
      assert_in_epsilon 10, outcome.throughput_per_s * (outcome.mean_ns + think_ms * MS) / Units::NS_PER_S, 0.01, text
    end
  end

  test "a request's time is its queue, its GVL wait, and its demand" do
    outcome = simulate(measured_workload(10), "1x3")
    endpoint = measured_workload(10).endpoints.first
    demanded_ns = endpoint.mean_cpu_ns + endpoint.mean_wait_ns + 40_000
    assert_in_epsilon outcome.mean_ns, outcome.queue_ns + outcome.gvl_wait_ns + demanded_ns, 0.003
  end

  test "more workers than cores get the cores and no more" do
    outcome = simulate(workload(endpoints: [endpoint_demand(demand([10]))], connections_count: 40), "4x1", on: machine(cores_count: 2.0))
    assert_in_epsilon 200, outcome.throughput_per_s, 0.02
    assert_in_epsilon 2, outcome.cores_used, 0.02
  end

  test "a client on the same cores takes its part of them" do
    workload = workload(endpoints: [endpoint_demand(demand([3]))], connections_count: 4)
    outcome = simulate(workload, "1x4", on: machine(cores_count: 1.0, client_cpu_ns: MS))
    assert_in_epsilon 250, outcome.throughput_per_s, 0.01
    assert_in_epsilon 0.75, outcome.cores_used, 0.01
  end

  test "endpoints come by their weight, and bring their whole requests" do
    endpoints = [endpoint_demand(demand([1]), name: "GET /a", weight_ratio: 0.8), endpoint_demand(demand([6]), name: "GET /b", weight_ratio: 0.2)]
    latencies_ns = simulate(workload(endpoints:, connections_count: 1), "1x1").latencies_ns
    assert_equal [MS, 6 * MS], latencies_ns.uniq
    assert_in_delta 0.8, latencies_ns.count(MS).fdiv(2_000), 0.03
  end

  test "connections stay with the worker they happened upon, however uneven" do
    # Requests that only wait do not hinder each other, so a worker's share of them is its share of connections.
    waiting = workload(endpoints: [endpoint_demand(demand([0, 0], [10]))], connections_count: 8)
    counts = (1..200).map { |seed| simulate(waiting, "2x8", seed:, requests_count: 80).worker_ratios.first * 8 }
    counts.each { |count| assert_in_delta count.round, count, 0.1 }
    # As many heads as in eight throws of a coin: mean 4, variance 2.
    assert_in_delta 4, counts.sum / 200, 0.3
    assert_in_delta 2, counts.sum { |count| (count - 4)**2 } / 200, 0.5
  end

  # Measured on Puma 8.0.2 and Ruby 4.0.5: one process, wrk with 10 connections, 16 for eight threads.
  MEASURED_PER_S = {1 => 46.7, 2 => 88.7, 3 => 125.1, 5 => 160.3, 8 => 162.1}.freeze

  MEASURED_PER_S.each do |threads_count, measured_per_s|
    test "#{threads_count} threads: the throughput is within 6 % of a real server's" do
      connections_count = (threads_count == 8) ? 16 : 10
      real = machine(cores_count: 2.0, handoff_ns: 8_000, client_cpu_ns: 20_000)
      assert_in_epsilon measured_per_s, simulate(measured_workload(connections_count), "1x#{threads_count}", on: real).throughput_per_s, 0.06
    end
  end
end
