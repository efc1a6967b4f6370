# frozen_string_literal: true

require "test_helper"
require "support/oracles"

class QueueingTest < TunerTest
  Queueing = PumaTuner::Predict::Queueing

  # Machines and repairmen, M/M/c//N (Kleinrock I, ch. 3): a closed flow whose rate grows with those inside.
  def repairmen(customers_count:, servers_count:, think:, service:)
    Queueing.closed_flow(customers_count, think:, rates: (1..servers_count).map { |busy| busy.fdiv(service) })
  end

  # --- closed

  test "mean value analysis gives the figures worked out by hand" do
    # One: 1 / (2 + 4). Two: it finds 1/3 queued, stays 2 x 4/3 there,
    # 2 / (8/3 + 4). Three: it finds 0.8, 3 / (3.6 + 4).
    [1 / 6.0, 0.3, 3 / 7.6].zip(Queueing.mva(3, service: 2, delay: 4)) { |by_hand, rate| assert_in_epsilon by_hand, rate, 1e-12 }
  end

  test "mean value analysis is the machine repairman with one repairman" do
    [1, 2, 7, 30].each do |count|
      rate = Queueing.mva(count, service: 2.0, delay: 13.0).last
      assert_in_epsilon repairmen(customers_count: count, servers_count: 1, think: 13.0, service: 2.0).throughput, rate, 1e-9
    end
  end

  test "the machine repairman is busy as Erlang's B formula says" do
    state = repairmen(customers_count: 9, servers_count: 1, think: 13.0, service: 2.0)
    assert_in_epsilon (1 - Oracles.erlang_b(9, 13.0 / 2)) / 2, state.throughput, 1e-9
  end

  test "several repairmen agree with the balance of states" do
    exact = Oracles.repairmen(customers_count: 12, servers_count: 3, think: 20.0, service: 10.0)
    state = repairmen(customers_count: 12, servers_count: 3, think: 20.0, service: 10.0)
    assert_in_epsilon exact[:throughput], state.throughput, 1e-9
    assert_in_epsilon exact[:present], state.present, 1e-9
  end

  test "customers that think and those inside add up to all, by Little's law" do
    state = repairmen(customers_count: 12, servers_count: 3, think: 20.0, service: 10.0)
    assert_in_epsilon 12, state.throughput * 20 + state.present, 1e-9
    assert_in_epsilon 12 / state.throughput - 20, state.latency, 1e-9
  end

  test "with a server each, nobody waits" do
    assert_in_epsilon 10, repairmen(customers_count: 4, servers_count: 4, think: 20.0, service: 10.0).latency, 1e-9
  end

  test "without think time all are inside, and the station is as fast as that many make it" do
    state = Queueing.closed_flow(5, think: 0, rates: [1, 1.5, 1.8])
    assert_equal [1.8, 5.0], [state.throughput, state.present]
    assert_equal 1.5, Queueing.closed_flow(2, think: 0, rates: [1, 1.5, 1.8]).throughput
  end

  test "a thousand customers who hardly think are no trouble for the arithmetic" do
    state = Queueing.closed_flow(1_000, think: 1e-9, rates: [1.0])
    assert_in_epsilon 1, state.throughput, 1e-9
    assert_in_epsilon 1_000, state.present, 1e-6
  end

  test "states are as probable as the flows between them" do
    # 0 <-> 1 <-> 2 with weights 1, 2, 1.
    [0.25, 0.5, 0.25].zip(Queueing.birth_death([2, 1], [1, 2])) { |by_hand, probability| assert_in_epsilon by_hand, probability, 1e-12 }
    assert_equal [1.0], Queueing.birth_death([], [])
  end

  # --- open

  test "M/M/1 at half load takes twice the service time" do
    assert_in_epsilon 4, Oracles.mm1_latency(0.25, service: 2), 1e-12
    assert_in_epsilon 4 * Math.log(100), Oracles.mm1_latency_quantile(0.99, 0.25, service: 2), 1e-9
  end

  test "M/M/c gives the figures worked out by hand" do
    # Two servers, one Erlang: B = (1/2) / (1 + 1 + 1/2) = 1/5, C = 0.2 / (1 - 0.5 x 0.8) = 1/3.
    assert_in_epsilon 0.2, Oracles.erlang_b(2, 1), 1e-12
    assert_in_epsilon 1 / 3.0, Oracles.erlang_c(2, 1), 1e-12
    assert_in_epsilon 1 / 3.0, Oracles.mmc_wait(1, service: 1, servers_count: 2), 1e-12
    assert_in_epsilon Math.log(10 / 3.0), Oracles.mmc_wait_quantile(0.9, 1, service: 1, servers_count: 2), 1e-12
    assert_equal 0.0, Oracles.mmc_wait_quantile(0.5, 1, service: 1, servers_count: 2)
  end

  test "M/M/c with one server is M/M/1, and so are M/G/1 of exponential times and a flow of one rate" do
    latency = Oracles.mm1_latency(0.35, service: 2.0)
    assert_in_epsilon latency - 2, Oracles.mmc_wait(0.35, service: 2.0, servers_count: 1), 1e-9
    assert_in_epsilon latency, Oracles.mg1_ps_latency(0.35, service: 2.0), 1e-9
    assert_in_epsilon latency, Queueing.open_flow(0.35, rates: [0.5]).latency, 1e-9
    exponential = Oracles.exponential(50_000, 2.0, Random.new(1))
    assert_in_epsilon latency - 2, Oracles.mg1_wait(0.35, services: exponential), 0.02
  end

  test "a flow whose rates grow with those inside is M/M/c" do
    state = Queueing.open_flow(1.3, rates: [0.5, 1.0, 1.5, 2.0])
    assert_in_epsilon 2 + Oracles.mmc_wait(1.3, service: 2.0, servers_count: 4), state.latency, 1e-9
    assert_in_epsilon 1.3 * state.latency, state.present, 1e-12
  end

  test "constant service halves the wait of exponential service" do
    assert_in_epsilon Oracles.mmc_wait(0.35, service: 2.0, servers_count: 1) / 2, Oracles.mg1_wait(0.35, services: [2.0]), 1e-9
  end

  test "one slice in a hundred that is a hundred times as long makes the wait twenty-five times" do
    # E[s] = 1.99, E[s^2] = 100.99 against 1.99^2 = 3.96.
    rare = Oracles.mg1_wait(0.25, services: [1] * 99 + [100])
    assert_in_epsilon 100.99 / 3.9601, rare / Oracles.mg1_wait(0.25, services: [1.99]), 1e-9
  end

  test "with processor sharing a request's latency is in proportion to its own service" do
    assert_in_epsilon 10, Oracles.mg1_ps_latency(0.25, service: 2, own: 5), 1e-12
  end

  test "groups of geometric size in front of one server wait as many times as long as they are large" do
    # M[X]/M/1: present = load / (1 - load) x (1 + E[B^2] / E[B]) / 2, and E[B^2] = 2b^2 - b for geometric sizes.
    [1, 2.5, 20].each do |mean|
      assert_in_epsilon mean * 0.7 / 0.3, Queueing.open_flow(0.35, rates: [0.5], group_mean: mean).present, 1e-9
    end
  end

  test "groups take several servers as the balance of many states has it" do
    assert_in_epsilon present_by_iteration(0.9, [0.5, 0.8, 1.0], 3.0), Queueing.open_flow(0.9, rates: [0.5, 0.8, 1.0], group_mean: 3.0).present, 1e-6
  end

  test "beyond what can be served there is no steady state" do
    assert_nil Oracles.mm1_latency(0.5, service: 2)
    assert_nil Oracles.mm1_latency_quantile(0.99, 0.5, service: 2)
    assert_nil Oracles.erlang_c(2, 2)
    assert_nil Oracles.mmc_wait(1, service: 2, servers_count: 2)
    assert_nil Oracles.mmc_wait_quantile(0.9, 1, service: 2, servers_count: 2)
    assert_nil Oracles.mg1_wait(0.5, services: [2])
    assert_nil Oracles.mg1_ps_latency(0.5, service: 2)
    assert_nil Queueing.open_flow(0.5, rates: [0.3, 0.5])
  end

  # Every cut's upward flow summed anew from all states below it, over far more states than matter.
  def present_by_iteration(arrival_rate, rates, group_mean)
    weights = [1.0]
    600.times do |count|
      upward = weights.each_with_index.sum { |weight, below| weight * (1 - 1 / group_mean)**(count - below) } * arrival_rate / group_mean
      weights << upward / rates[[count, rates.size - 1].min]
    end
    weights.each_with_index.sum { |weight, count| weight * count } / weights.sum
  end
end
