# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/oracles"

class ClosedFormTest < TunerTest
  include Builders

  # A mean request of 6.1 ms CPU and 15.2 ms waits.
  def closed_form(text, connections_count: 100, think_ms: 0, on: machine)
    workload = workload(endpoints: [endpoint_demand(demand([3, 3.1], [15.2]))], connections_count:, think_ms:)
    Predict::ClosedForm.new(workload, on, topology(text))
  end

  test "bound, Amdahl's law and mean value analysis give the figures worked out by hand" do
    {1 => [46.9, 46.9, 46.9], 2 => [93.9, 73.0, 86.6], 3 => [140.8, 89.6, 117.6], 5 => [163.9, 109.3, 152.3], 8 => [163.9, 124.9, 163.2]}
      .each do |threads_count, expected|
        forms = closed_form("1x#{threads_count}").forms
        expected.zip([forms.bound_per_s, forms.amdahl_per_s, forms.mva_per_s]) { |by_hand, per_s| assert_in_epsilon by_hand, per_s, 0.006 }
      end
  end

  test "mean value analysis agrees with the balance of states" do
    exact = Oracles.repairmen(customers_count: 6, servers_count: 1, think: 0.0152, service: 0.0061)
    assert_in_epsilon exact[:throughput], closed_form("1x6").forms.mva_per_s, 1e-9
  end

  test "fewer connections than threads are what goes round, thinking included" do
    exact = Oracles.repairmen(customers_count: 3, servers_count: 1, think: 0.0152 + 0.02, service: 0.0061)
    assert_in_epsilon exact[:throughput], closed_form("1x6", connections_count: 3, think_ms: 20).forms.mva_per_s, 1e-9
  end

  test "workers share the connections, between whole numbers in proportion" do
    one, two = [1, 2].map { |count| closed_form("1x6", connections_count: count).forms.mva_per_s }
    assert_in_epsilon 2 * (one + two) / 2, closed_form("2x6", connections_count: 3).forms.mva_per_s, 1e-9
  end

  test "the lowest bound names the bottleneck" do
    assert_equal "threads", closed_form("1x3").bottleneck
    assert_equal "gvl", closed_form("1x5").bottleneck
    assert_equal "cores", closed_form("4x5", on: machine(cores_count: 2.0)).bottleneck
    assert_equal "clients", closed_form("4x5", connections_count: 6).bottleneck
  end

  test "of equal bounds, the one is named that more threads and workers do not lift" do
    assert_equal "cores", closed_form("1x9", on: machine(cores_count: 1.0)).bottleneck
    assert_equal "clients", closed_form("1x2", connections_count: 2).bottleneck
  end

  test "the client's CPU takes from the cores" do
    bound_per_s = closed_form("4x9", on: machine(cores_count: 1.0, client_cpu_ns: 3_900_000)).forms.bound_per_s
    assert_in_epsilon 100, bound_per_s, 1e-9
  end
end
