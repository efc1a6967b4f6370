# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/sim_speed"

# What can be said of the simulation's benchmark without timing.
class SimSpeedTest < TunerTest
  include SimSpeed

  MACHINE = PumaTuner::Probe::MachineFacts.new(cores_count: 2, cpu_model: "A | B", cpu_quota_cores: nil, memory_bytes: 1, kernel: "Linux 6",
    load_average: 0.5, cpu_pressure_ratio: nil)

  # @param ns [Numeric] an event; noise: by which every second round is off
  def runs_of(ns, requests_count: 1_000, noise: 0.01, rounds: 8)
    Array.new(rounds) do |round|
      Run.new(seconds: requests_count * 10 * ns * (1 + (round.even? ? noise : -noise)) / 1e9, requests_count:, events_count: requests_count * 10, mean_ns: 15.5e6)
    end
  end

  def runs(queue_ns: 40, app_ns: 60, simpy_ns: 1_200)
    {"queue" => queue_ns, "simpy" => simpy_ns, "app" => app_ns}.flat_map { |name, ns|
      [[name, runs_of(ns)], ["#{name}_again", runs_of(ns, noise: -0.01)]] if ns
    }.compact.to_h
  end

  def sweeps(seconds: 4.0, mib: 60) = Array.new(8) { |round| Rounds::Sweep.new(seconds: seconds + round * 0.01, peak_bytes: mib * 1024 * 1024, forecasts_count: 96) }

  def outcomes(sweep: {}, **ns) = Judge.verdicts(runs: runs(**ns), sweeps: sweeps(**sweep)).map(&:outcome)

  test "each target is met or missed by itself" do
    assert_equal %i[met met met met], outcomes
    assert_equal %i[missed met met met], outcomes(queue_ns: 150)
    assert_equal %i[met missed missed met], outcomes(app_ns: 150, sweep: {seconds: 5.5})
    assert_equal %i[met met met missed], outcomes(sweep: {mib: 250})
    assert_equal %i[not_shown met met met], outcomes(queue_ns: 100)
  end

  test "SimPy is held against us by requests, in the same rounds" do
    assert_in_delta 30, Judge.times_simpy(runs).value, 1
  end

  test "the page holds its tables, aligned, and SimPy only where it is there" do
    [runs, runs(simpy_ns: nil)].each do |made|
      measured = {runs: made, sweeps: sweeps}
      page = Page.new(machine: MACHINE, **measured, verdicts: Judge.verdicts(**measured), simpy: "SimPy 3", at: Time.utc(2026, 11, 21)).to_s
      assert_match(/^\| our core, M\/M\/5 +\| +25\.0 \(24\.8 to 25\.3\) \|/, page)
      assert_match(/^Made with .+ on 2026-11-21: .+; load average before the run 0\.5\.$/, page)
      assert_equal made.key?("simpy"), page.include?("SimPy takes 30")
      page.split("\n\n").select { |part| part.start_with?("|") }.each { |table| assert_equal 1, table.lines(chomp: true).map(&:length).uniq.size, table }
    end
  end

  test "the formula is Erlang's" do
    assert_in_delta 20e6, Models::Queue.new(servers_count: 1, rate_per_s: 50.0, mean_service_s: 0.01).mean_ns, 1
    # 2 of 3 servers offered: C = 4/9, and (4/9 + 1) x 10 ms.
    assert_in_delta 130e6 / 9, Models::Queue.new(servers_count: 3, rate_per_s: 200.0, mean_service_s: 0.01).mean_ns, 1
  end

  test "what is simulated is what the benchmark says" do
    queue = Models.queue_workload.endpoints.first
    assert_in_delta Models::QUEUE.mean_service_s * 1e9, queue.demands.sum(&:wait_ns).fdiv(queue.demands.size), 100
    assert_equal 96, Models.sweep_scenarios.uniq.size
    assert_in_delta 1, Models.app_workload.endpoints.sum(&:weight_ratio)
  end

  test "without SimPy there is a reason, and nothing of it is run" do
    absent = Struct.new(:why_not).new("it is not there")
    assert_equal %w[queue queue_again app app_again], Rounds.new(rounds_count: 1, quick: true, simpy: absent).runs.keys
  end

  test "a page is written of whole rounds only" do
    assert_raises(OptionParser::ParseError) { Options.parse(%w[--write --quick]) }
    assert Options.parse(%w[--write --rounds 3]).write
    ["--rounds 0", "more"].each { |words| assert_raises(OptionParser::ParseError) { Options.parse(words.split) } }
  end
end
