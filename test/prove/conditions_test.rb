# frozen_string_literal: true

require "test_helper"

class ConditionsTest < TunerTest
  include PumaTuner

  S = 1_000_000_000

  def spent(**fields)
    Host::Spent.new(duration_ns: 10 * S, cpu_ns: 0, run_queue_wait_ns: 0, gc_ns: 0, allocated_count: 0, busy_ns: 0, stolen_ns: 0, pressure_ns: 0, throttled_count: 0, **fields)
  end

  def outcome(**fields)
    Load::Outcome.new(generator: "fake", connections_count: 10, duration_ns: 10 * S, requests_count: 1_000, throughput_per_s: 100.0, mean_ns: 95_000_000,
      p50_ns: 1, p90_ns: 1, p99_ns: 1, statuses: {}, unexpected_count: 0, socket_errors_count: 0, unknown: [],
      latency: Probe::Histogram.empty, generator_cpu_ns: S, **fields)
  end

  def conditions(spent = self.spent, gauges: [], began: [], outcome: self.outcome, own_cpu_ns: 0, fingerprint: {})
    Prove::Conditions.of(spent:, gauges:, began:, outcome:, own_cpu_ns:, cores_count: 2, fingerprint:)
  end

  test "conditions tell what others on the machine used" do
    found = conditions(spent(cpu_ns: 6 * S, run_queue_wait_ns: 2 * S, busy_ns: 12 * S, stolen_ns: S, pressure_ns: 5 * S), own_cpu_ns: S)
    assert_in_delta 0.25, found["run_queue_wait_ratio"]
    assert_in_delta 0.2, found["foreign_cpu_ratio"] # 12 - 6 - 1 - 1 of 20
    assert_in_delta 0.05, found["stolen_ratio"]
    assert_in_delta 0.5, found["pressure_ratio"]
    assert_in_delta 0.1, found["generator_cpu_ratio"]
    assert_in_delta 0.05, conditions(outcome: outcome(settling_ns: 10 * S))["generator_cpu_ratio"]
  end

  test "requests in flight, of the connections, by the generator's own samples" do
    latency = Probe::Histogram.of([95_000_000] * 1_000)
    assert_in_delta 0.95, conditions(outcome: outcome(latency:, requests_count: 1_200))["in_flight_ratio"]
    refute_includes conditions(outcome: outcome(latency: nil)), "in_flight_ratio"
  end

  test "a trial remarks that its server fell behind the rate" do
    remarked = [12, 400].map do |drained_count|
      run = Prove::TrialRun.allocate
      run.instance_variable_set(:@outcome, outcome(intended_count: 1_000, drained_count:, connection_wait_count: 0))
      run.send(:remarks, {}).map(&:kind)
    end
    assert_equal [:fell_behind], remarked.last - remarked.first
  end

  test "conditions that the machine does not tell are left out" do
    found = conditions(spent(cpu_ns: nil, stolen_ns: nil, pressure_ns: nil, throttled_count: nil))
    assert_empty found.keys & %w[run_queue_wait_ratio foreign_cpu_ratio stolen_ratio pressure_ratio throttled_count]
  end

  def yjit(ruby, flags, gauges) = conditions(gauges: [gauges], fingerprint: {[:yjit, nil] => "on", [:ruby, nil] => "ruby #{ruby}", [:ruby, "flags"] => flags})["yjit_code_ratio"]

  test "conditions tell how full YJIT's memory is, by version and flag" do
    mib = Units::MIB
    assert_in_delta 0.9, yjit("3.3.8", "", {code_bytes: 43.2 * mib, yjit_bytes: 200 * mib}), 0.001
    assert_in_delta 0.5, yjit("3.4.5", "", {code_bytes: 20 * mib, yjit_bytes: 64 * mib}), 0.001
    assert_in_delta 0.5, yjit("3.4.5", "--yjit --yjit-mem-size=32", {code_bytes: 10 * mib, yjit_bytes: 16 * mib}), 0.001
    assert_in_delta 0.5, yjit("3.4.5", "--yjit-exec-mem-size=32", {code_bytes: 16 * mib, yjit_bytes: 60 * mib}), 0.001
    refute_includes conditions(fingerprint: {[:yjit, nil] => "off"}), "yjit_code_ratio"
  end

  test "conditions take YJIT's figures from the process with the most, and the least code of any" do
    workers = [{code_bytes: 8, yjit_bytes: 24, compiled_count: 100, invalidated_count: 7}, {code_bytes: 6, yjit_bytes: 30, compiled_count: 120, invalidated_count: 2}]
    found = conditions(gauges: workers)
    assert_equal [8, 6, 30, 120, 7], found.values_at("yjit_code_bytes", "yjit_code_least_bytes", "yjit_bytes", "yjit_compiled_count", "yjit_invalidated_count")
    assert_in_delta 0.25, conditions(gauges: workers, began: [{compiled_count: 75}, {compiled_count: 90}])["yjit_new_ratio"]
    assert_empty conditions(gauges: [{code_bytes: nil}], began: [{code_bytes: nil}]).keys.grep(/yjit/)
  end
end
