# frozen_string_literal: true

require "test_helper"
require "support/builders"

class SweeperTest < TunerTest
  include Builders

  def sweeper(of: workload, on: machine(cores_count: 2), requests_count: 200, seeds_count: 3, **options)
    Predict::Sweeper.new(workload: of, machine: on, seed: 7, seeds_count:, requests_count:, **options)
  end

  def sweep_over(*texts, arrivals: Model::Arrivals.closed(10), **options, &)
    sweeper(**options).call(texts.map { |text| scenario(text, arrivals) }, &)
  end

  def names(sweep) = sweep.forecasts.map { |forecast| forecast.topology.to_s }

  test "today's topology is always there, once, and the cells are in order" do
    assert_equal %w[1x2 1x5 2x1], names(sweep_over("2x1", "1x2"))
    assert_equal %w[1x5], names(sweep_over("1x5"))
  end

  test "progress is told after each scenario" do
    seen = []
    sweep_over("1x2") { |done_count, total_count| seen << [done_count, total_count] }
    assert_equal [[1, 2], [2, 2]], seen
  end

  test "the same seed gives the same sweep, whichever thread was first" do
    assert_equal sweep_over("2x2", "1x1", "3x3"), sweep_over("2x2", "1x1", "3x3")
  end

  test "an estimate is the mean of the seeds' logarithms, and its interval holds them" do
    forecast = sweep_over("2x3").at(topology("2x3"))
    outcomes = [7, 8, 9].map do |seed|
      Predict::Engine.call(Predict::Plan.new(workload:, machine: machine(cores_count: 2), scenario: scenario("2x3"), seed:, requests_count: 200))
    end
    geometric_mean = Math.exp(outcomes.sum { |outcome| Math.log(outcome.quantile_ns(0.99)) } / 3)
    assert_in_epsilon geometric_mean, forecast.p99_ns.value, 1e-9
    outcomes.each { |outcome| assert forecast.throughput_per_s.covers?(outcome.throughput_per_s) }
    assert_equal [3, 0.95], [forecast.mean_ns.samples_count, forecast.mean_ns.level_ratio]
    assert_in_delta outcomes.sum(&:cores_used) / 3, forecast.cores_used, 1e-9
  end

  test "what one scenario brings over another is sharper than their intervals, as both met the same requests" do
    # Bursts that differ from request to request: what a seed draws moves both scenarios alike.
    random = Random.new(3)
    spread = workload(endpoints: [endpoint_demand(*(1..60).map { demand([random.rand(1..20), 1], [random.rand(5..60)]) })])
    sweep = sweep_over("1x3", "1x4", of: spread, seeds_count: 8, requests_count: 1_000)
    more, less = %w[1x4 1x3].map { |text| sweep.at(topology(text)) }
    ratio = more.ratio_to(less, :throughput_per_s)
    apart = more.with(samples: nil).ratio_to(less, :throughput_per_s)
    assert_in_epsilon apart.value, ratio.value, 0.001
    assert_operator ratio.high / ratio.low, :<, 0.5 * (apart.high / apart.low - 1) + 1
  end

  test "the parts of a forecast add up to its mean" do
    forecast = sweep_over("2x3").at(topology("2x3"))
    assert_in_epsilon forecast.mean_ns.value, forecast.budget.wall_ns, 0.001
    assert_in_delta 0, forecast.budget.residual_ns, 1
  end

  test "what earlier forecasts got wrong makes the interval wider, many checks more than few" do
    wide = ->(count) { forecast_with("throughput" => 0.3, "checks_count" => count).throughput_per_s }
    plain = forecast_with(nil).throughput_per_s
    widths = [plain, wide.call(1), wide.call(50)].map { |estimate| estimate.high / estimate.low }
    assert_equal widths.sort, widths
    assert_operator widths[1], :>, widths[0] * 1.1
    # 30% wrong, at two standard deviations to both sides.
    assert_in_delta 2 * 1.96 * 0.3, Math.log(widths[2]), 0.12
  end

  test "each metric's checks count by their own number" do
    record = Predict::TrackRecord.error("throughput" => [0.3], "p99" => [0.7] * 41)
    of_p99, of_both = [record, {**record, "p99_checks_count" => 1}].map { |error| forecast_with(error).p99_ns }
    assert_operator of_p99.high / of_p99.low, :>, Math.exp(2 * 1.96 * 0.6)
    assert_operator of_both.high / of_both.low, :<, of_p99.high / of_p99.low
  end

  test "the model can't be wrong about the rate of an open load" do
    estimate = sweeper(requests_count: 2_000).forecast(scenario("1x5", Model::Arrivals.open(50, kind: "even"))).throughput_per_s
    assert_in_epsilon 50, estimate.value, 0.01
    assert_operator estimate.high / estimate.low, :<, 1.02
  end

  def forecast_with(past_error) = sweeper(past_error:).forecast(scenario("1x5"))

  test "an open load beyond what can be served has no steady state, and no figures" do
    # 6 ms of CPU each: 166 a second at most.
    forecast = sweeper.forecast(scenario("1x5", Model::Arrivals.open(200)))
    refute forecast.steady?
    assert_match(/200 requests\/s arrive and at most 16[67]/, in_words(forecast.unsteady))
    assert_nil forecast.p99_ns
  end

  test "a load whose queue grows has no steady state although the formulas' bound lets it pass" do
    # Bursts and waits by chance: five threads serve 152 of the 166 a second that the bound allows.
    random = Random.new(5)
    by_chance = ->(mean_ms) { -Math.log(1 - random.rand) * mean_ms }
    demands = Array.new(2_000) { demand([2, 2, 2].map(&by_chance), [7.5, 7.5].map(&by_chance)) }
    long = sweeper(of: workload(endpoints: [endpoint_demand(*demands)]), requests_count: 4_000, seeds_count: 6)
    assert_equal :queue_grows, long.forecast(scenario("1x5", Model::Arrivals.open(160))).unsteady&.kind
    assert long.forecast(scenario("1x5", Model::Arrivals.open(100))).steady?
  end

  test "a load whose queue grows at the client or at a station has no steady state" do
    # 21 ms each: two connections take 95 of the 150 a second that arrive, so a third of them find no room.
    few = sweeper(requests_count: 2_000).forecast(scenario("1x5", Model::Arrivals.open(150, connections_count: 2)))
    assert_in_delta 100 * (1 - 2 / 0.021 / 150), 100 * few.unsteady.facts.fetch("unserved_ratio"), 4
    # 15 ms of io each, one at a time: 66 a second.
    station = sweeper(requests_count: 2_000, stations: [Predict::Station.new(kind: "io", servers_count: 1)])
    assert_equal :queue_grows, station.forecast(scenario("1x8", Model::Arrivals.open(100, connections_count: 20))).unsteady&.kind
    assert station.forecast(scenario("1x8", Model::Arrivals.open(40, connections_count: 20))).steady?
  end

  test "the sweep says under what it was made" do
    sweep = sweep_over("1x1", of: workload(connections_count: 12), what_if: ["cpu*0.7"], remarks: ["in haste"], limits: [Unknown.of(:machine, :not_calibrated)])
    assert_equal [topology("1x5"), 12, 7, 3, 200], [sweep.today, sweep.arrivals.connections_count, sweep.seed, sweep.seeds_count, sweep.requests_count]
    assert_equal [["cpu*0.7"], ["in haste"], [Unknown.of(:machine, :not_calibrated)]], [sweep.what_if, sweep.remarks, sweep.limits]
    assert_equal 4, sweep.rule_of_thumb_threads_count # 6 of 21 ms are CPU
  end

  # Each request counted stands for 10 simulations, a quarter more of warm-up, and 766 steps: 240 million are enough for 25,065.
  test "as many requests fit into a time as there are steps in it, less those of the self-check, but a thousand or all at least" do
    app = workload(endpoints: [endpoint_demand(demand([0.02] * 191, [0.01] * 190))])
    within = lambda do |seconds, of: app, wanted_count: 5_000, cores_count: 2|
      Predict::Sweeper.requests_within(seconds, of, 16, wanted_count, cores_count:)
    end
    assert_equal [1_500, 1_000, 5_000, 5_000], [within.call(12), within.call(1), within.call(60), within.call(12, of: workload)]
    assert_equal [300, 1_100], [within.call(1, wanted_count: 300), within.call(12, cores_count: 1.5)]
    seen = Model::Recorded.new(topology: topology("1x5"), arrivals: Model::Arrivals.closed(10), throughput_per_s: 100.0, p50_ns: nil,
      p99_ns: nil, requests_count: 4_000, duration_ns: 1, budget: Probe::Budget.zero)
    assert_equal 1_300, within.call(12, of: app.with(recorded: [seen]))
    locking = endpoint_demand(demand([0.02] * 761, [0] * 760, wait_kinds: %w[acquire release] * 380))
    assert_equal 1_500, within.call(12, of: workload(endpoints: [locking])), "a lock is a step each time"
  end

  test "memory of a cluster is what is shared, and every worker's own" do
    memory = Model::MemoryDemand.new(shared_bytes: 50, per_worker_bytes: 100, single_bytes: nil)
    sweep = sweep_over("1x2", "2x2", "3x2", of: workload(memory:))
    assert_equal [nil, 250, 350], %w[1x2 2x2 3x2].map { |text| sweep.at(topology(text)).memory_bytes }
  end

  test "from a single process the memory of a cluster is unknown" do
    memory = Model::MemoryDemand.new(shared_bytes: nil, per_worker_bytes: nil, single_bytes: 100)
    sweep = sweep_over("1x2", "2x2", of: workload(memory:))
    assert_equal [100, nil], %w[1x2 2x2].map { |text| sweep.at(topology(text)).memory_bytes }
  end

  test "a sweep outlives its file" do
    sweep = sweep_over("2x2")
    assert_equal sweep, Document.parse(Document.dump(sweep), "sweep.json", [:sweep])
  end

  test "an alternative is today's setting with something else changed, under the same requests" do
    sweeper = sweeper(requests_count: 500)
    today = sweeper.call([scenario("2x1")]).at(topology("1x5"))
    assert_equal today, sweeper.alternative
    assert_equal sweeper.forecast(scenario("2x2", workload.arrivals)), sweeper.alternative(topology: topology("2x2"))
    faster = sweeper.alternative(what_if: ["cpu*0.5"])
    assert_operator faster.ratio_to(today, :throughput_per_s).low, :>, 1
    assert_equal today, sweeper.alternative, "what was assumed is forgotten"
    assert_predicate sweeper.alternative(affinity: true).scenario, :affinity
  end

  test "what a sweep has is not simulated again, and stands for no other setting, load or app" do
    kept = sweeper
    sweep = kept.call([scenario("1x1", workload.arrivals)])
    assert_same sweep.at(topology("1x1")), kept.alternative(topology: topology("1x1"))
    others = [{affinity: true}, {arrivals: Model::Arrivals.closed(3)}, {what_if: ["cpu*0.5"]},
      {what_if: ["cores=1"], topology: topology("1x1")}]
    assert_equal others.map { |changes| sweeper.alternative(**changes) }, others.map { |changes| kept.alternative(**changes) }
    refute_equal sweep.at(topology("1x5")).p50_ns, kept.alternative(what_if: ["cpu*0.5"]).p50_ns
  end

  test "on fewer cores a request takes the CPU that it has to itself, whatever the recorded cores cost each other" do
    seen = Model::Cost.new(topology: topology("2x1"), cpu_ns: 9 * MS, gc_ns: 0, long_gc_ratio: 0.0, long_gcs_ns: [], io_ns: 0,
      releases_count: 0, switches_count: 0, busy_cores: 1.5)
    app = workload(endpoints: [endpoint_demand(demand([9]))], connections_count: 1, observed_topology: topology("1x1"), costs: [seen])
    sweeper = sweeper(of: app, on: machine(cores_count: 2, effective_cores: [1.0, 1.6]))
    assert_in_epsilon 125, sweeper.alternative.throughput_per_s.value, 0.01
    assert_in_epsilon 125, sweeper.alternative(what_if: ["cores=1"]).throughput_per_s.value, 0.01
  end

  test "a goal of an endpoint to which no request goes any more is a mistake" do
    endpoints = %w[/articles /search].map { |name| endpoint_demand(*[demand([1])] * 100, name:, weight_ratio: 0.5) }
    without = Predict::WhatIf.parse(["weight(/search)*0"]).apply(workload(endpoints:), machine).first
    goals = %w[/articles /search].map { |name| [Goal.read("#{name}: 90% < 50ms")] }
    sweeper(of: without, goals: goals.first)
    assert_match(/no request goes to \/search/, assert_raises(UsageError) { sweeper(of: without, goals: goals.last) }.message)
  end
end
