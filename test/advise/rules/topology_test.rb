# frozen_string_literal: true

require "test_helper"
require "support/builders"

class TopologyRuleTest < TunerTest
  include Builders

  LIMITED = {max_memory_bytes: 512 << 20, memory_limited_by: "container"}.freeze

  def advice(*forecasts, constraints: {}, **sweep_facts)
    list = Advise::Advisor.new(Advise::Constraints.new(**constraints)).call(workload, sweep(*forecasts, **sweep_facts))
    told(list.recommendation)
  end

  test "a better topology comes with its effect, its cost and the way back" do
    advice = advice(forecast("1x5", 100, memory_bytes: 100 << 20), forecast("2x3", 150, p99_ms: 80, memory_bytes: 250 << 20))
    assert_equal "Go from 1x5 to 2x3: +50% requests/s", advice.title
    assert_equal "puma -w 2 -t 3:3", advice.change
    assert_equal "puma -w 0 -t 5:5", advice.undo
    assert_equal "250 MiB of memory, today 100 MiB; room for 6 database connections, today 5", advice.cost
  end

  test "a ratio's range is the widest that both ranges allow" do
    advice = advice(forecast("1x5", 100), forecast("2x3", 150, p99_ms: 80))
    assert_in_delta 1.5, advice.throughput_ratio.value
    assert_in_delta 1.5 * 0.99 / 1.01, advice.throughput_ratio.low
    assert_in_delta 1.5 * 1.01 / 0.99, advice.throughput_ratio.high
    assert_in_delta 0.8, advice.p99_ratio.value
    assert_equal 5, advice.p50_ratio.samples_count
  end

  test "the evidence names both forecasts, what limits them, and where the rule of thumb leads" do
    evidence = advice(forecast("1x5", 100, bottleneck: "gvl"), forecast("2x3", 150, bottleneck: "cores"), forecast("2x4", 151)).evidence
    assert_equal [
      "Today, 1x5: 100 requests/s (99.0 to 101) predicted in 5 simulations, p50 50.0 ms (49.5 ms to 50.5 ms), " \
      "p99 100 ms (99.0 ms to 101 ms); limited by the GVL.",
      "Advised, 2x3: 150 requests/s (149 to 152) predicted in 5 simulations, p50 50.0 ms (49.5 ms to 50.5 ms), " \
      "p99 100 ms (99.0 ms to 101 ms); limited by the cores.",
      "2x4 is predicted at 151 requests/s (149 to 153) and a p99 of 100 ms (99.0 ms to 101 ms), with 8 slots instead of 6: " \
      "the difference of +1% (-1% to +3%) may be none, and of such settings the one with the fewest slots is taken.",
      "The rule of thumb, 100 over the CPU percentage (28.6%), gives 4 threads: 2x4 is predicted at 151 requests/s (149 to 153)."
    ], evidence
  end

  test "a rule of thumb outside the sweep is told as such, and an unknown one not at all" do
    assert_match(/7 threads: 1x7 is outside the topologies predicted\.$/, advice(forecast("1x5", 100), rule_of_thumb_threads_count: 7).evidence.last)
    refute_match(/rule of thumb/, advice(forecast("1x5", 100), rule_of_thumb_threads_count: nil).evidence.join)
  end

  test "when today's is best, the advice is to stay, at a ratio of exactly one and no cost" do
    advice = advice(forecast("1x5", 100), forecast("1x6", 101), forecast("1x4", 90))
    assert_equal "Stay with 1x5", advice.title
    assert_equal topology("1x5"), advice.topology
    [advice.throughput_ratio, advice.p50_ratio, advice.p99_ratio].each do |ratio|
      assert_equal [1.0, 1.0, 1.0], [ratio.value, ratio.low, ratio.high]
    end
    assert_equal "none", advice.cost
  end

  test "fewer slots for the same throughput promise no more than that" do
    assert_equal "Go from 1x8 to 1x5: as many requests/s with 3 slots less", advice(forecast("1x8", 100), forecast("1x5", 99)).title
  end

  test "the machine's memory is told where something does not fit into it, and only there" do
    cells = [forecast("1x5", 100, memory_bytes: 300 << 20), forecast("2x3", 150, memory_bytes: 500 << 20), forecast("3x3", 200, memory_bytes: 700 << 20)]
    machine = {max_memory_bytes: 512 << 20, memory_limited_by: "machine"}
    advice = advice(*cells, constraints: machine)
    assert_equal topology("2x3"), advice.topology
    assert_includes advice.evidence, "Kept to: the machine's memory, 512 MiB without what the rest of it needs; 2 of 3 topologies meet it. `--memory` sets another limit."
    assert_equal [], advice(*cells.first(2), constraints: machine).evidence.grep(/machine's memory|constraints/)
  end

  test "clients that are too few for today's slots are named, with how many would do" do
    advice = advice(forecast("16x3", 1_000, bottleneck: "clients"), forecast("7x3", 1_000, bottleneck: "clients"))
    assert_equal "Stay with 16x3", advice.title
    assert_includes advice.evidence, "10 connections can't keep today's 48 slots busy, so nothing is known of what these are for, " \
      "and no fewer are advised. Raise `--connections`, to 96 or more, or name your load with `--at`."
  end

  test "a setting with as many slots and a shorter tail promises the shorter tail" do
    assert_equal "Go from 1x4 to 2x2: as many requests/s, -30% p99", advice(forecast("1x4", 100), forecast("2x2", 101, p99_ms: 70)).title
  end

  def checked(text, error_ratio, recorded: 100.0)
    figure = Predict::CheckedFigure.new(metric: "throughput", recorded:, simulated: estimate(recorded * (1 + error_ratio)), error_ratio:,
      beyond_noise: !error_ratio.zero?)
    Predict::CheckedSetting.new(scenario: scenario(text), figures: [figure], cause: PumaTuner::Statement.of(:no_part))
  end

  def missing(error_ratio) = Predict::SelfCheck.new(settings: [checked("1x8", error_ratio)])

  def advice_list(error_ratio, spread_ratio: 0.01)
    cells = {"1x5" => 100, "2x1" => 120, "2x3" => 190, "2x7" => 240}.map do |text, per_s|
      forecast(text, per_s).with(throughput_per_s: estimate(per_s, spread_ratio))
    end
    Advise::Advisor.new.call(workload, sweep(*cells).with(self_check: missing(error_ratio)))
  end

  test "nothing is recommended by a model that is far off what was recorded, and what is to be measured instead is told" do
    [0.16, -0.2].each do |error_ratio|
      list = advice_list(error_ratio, spread_ratio: 0.5)
      assert_nil list.recommendation
      assert_predicate list.advice.first, :remark?
      assert_match(/\ANo setting is recommended without a measurement.*\(at 1x8 by [+-]\d\d%\)\z/, told(list.advice.first).title)
      assert_match(/`puma_tuner prove --topologies 1x5,2x7,2x3,2x1`.*`puma_tuner tune`/, told(list.advice.first).change)
      assert_match(/does not reproduce the recording at 1x8 with 10 connections: throughput [+-]\d+%/, told(list.advice.first).evidence.first)
    end
  end

  # As simulations of the same requests are: seed by seed, a ratio is the same.
  def simulated(text, per_s)
    forecast(text, per_s).then do |one|
      one.with(samples: %i[throughput_per_s p50_ns p99_ns].to_h { |name| [name.to_s, [one.public_send(name).value] * 5] })
    end
  end

  # With an error of 50% the interval reaches from 1/2.24 to 2.24 times the middle, with one of 70% from 1/2.86 to 2.86 times.
  test "a gain in which all simulations agree is sure only beyond what the model is off by" do
    predicted = sweep(simulated("1x5", 100), simulated("2x7", 240))
    recommended = ->(error_ratio) { Advise::Advisor.new.call(workload, predicted.with(self_check: missing(error_ratio))).recommendation }
    assert_in_delta 2.4 / 2.24, recommended[0.5].throughput_ratio.low, 0.01
    assert_nil recommended[0.7]
    assert_nil recommended[-0.5]
  end

  test "what was recorded to serve no more than today's is not recommended, whatever a model says that is far off" do
    predicted = sweep(forecast("1x5", 100), forecast("2x7", 240))
    recommended = lambda do |per_s, **assumed|
      self_check = Predict::SelfCheck.new(settings: [checked("1x5", 0.0), checked("2x7", 240 / per_s - 1, recorded: per_s)])
      Advise::Advisor.new.call(workload, predicted.with(self_check:, **assumed)).recommendation&.topology
    end
    assert_equal topology("2x7"), recommended[190.0]
    assert_nil recommended[98.0]
    assert_equal topology("2x7"), recommended[98.0, what_if: ["cores=16"]]
  end

  # Its interval holds what the model is off by, as 2.4 is over 1 by far more than that.
  test "what surely serves more than today's for all that is recommended, and the least of it is told" do
    advice = told(advice_list(0.2, spread_ratio: 0.25).recommendation)
    assert_equal topology("2x7"), advice.topology
    assert_match(/does not reproduce the recording at 1x8/, advice.evidence.first)
    assert_equal "2x7 is recommended nevertheless: even at the lower end of the wider interval it has +44% requests/s over 1x5. " \
                 "Which of such settings is the best is less sure, so `puma_tuner tune` measures the likeliest ones.", advice.evidence.last
  end

  # @return [PumaTuner::Advise::Advice, nil] of these topologies, which a proof showed to be better
  def by_proof(topologies, forecasts = {"1x5" => 100, "2x1" => 120, "2x7" => 240}, former: "2x7", former_better: true, constraints: {},
    **facts)
    predicted = sweep(*forecasts.map { |text, per_s| forecast(text, per_s, **facts) }).with(self_check: missing(0.3))
    situation = Advise::Situation.new(workload, predicted, constraints: Advise::Constraints.new(**constraints))
    topologies = topologies.map { |text| topology(text) }
    told(Advise::Rules::Topology.new(situation).by_proof(topologies, former:, former_better:))
  end

  test "what a proof showed to be better comes with its own lines, effect and cost, and with what the model is off by" do
    advice = by_proof(%w[2x1])
    assert_equal "Go from 1x5 to 2x1, which the proof showed to be better", advice.title
    assert_equal ["puma -w 2 -t 1:1", "puma -w 0 -t 5:5"], [advice.change, advice.undo]
    assert_equal [topology("2x1"), {"topology" => "2x1"}], [advice.topology, advice.factors]
    assert_equal({"config/puma.rb" => "workers 2\nthreads 1, 1"}, advice.lines)
    assert_match(/room for 2 database connections, today 5/, advice.cost)
    assert_in_delta 1.2, advice.throughput_ratio.value, 0.01
    assert_match(/does not reproduce the recording at 1x8/, advice.evidence[1])
  end

  test "what the proof said of the setting that was recommended before stands beside it" do
    told = [{}, {former_better: false}, {former: nil, former_better: false}].map { |former| by_proof(%w[2x1], **former).evidence.first }
    assert_equal [" and than 2x7, which was recommended before", ", but did not show that of 2x7, which was recommended before", ""],
      told.map { |text| text[/\AThe proof showed 2x1 to be better than 1x5(.*): what was measured goes before forecasts\.\z/, 1] }
  end

  test "a proof recommends nothing beyond a limit, nor fewer slots where clients are too few for today's; with goals nothing at all" do
    assert_equal topology("2x1"), by_proof(%w[2x7 2x1], constraints: {db_connections_count: 5}).topology
    assert_nil by_proof(%w[2x7], constraints: {db_connections_count: 5})
    assert_nil by_proof(%w[2x7], constraints: {goals: [Goal.read("99% < 1s")]})
    few = {"16x3" => 1_000, "7x3" => 1_000, "8x6" => 1_000}
    assert_nil by_proof(%w[7x3], few, bottleneck: "clients")
    assert_equal topology("8x6"), by_proof(%w[7x3 8x6], few, bottleneck: "clients").topology
  end

  test "settings to be measured keep to the container's limit, too" do
    cells = [forecast("1x5", 100, memory_bytes: 100 << 20), forecast("2x3", 101, memory_bytes: 300 << 20), forecast("4x3", 240, memory_bytes: 600 << 20)]
    advice = told(Advise::Advisor.new(Advise::Constraints.new(**LIMITED)).call(workload, sweep(*cells).with(self_check: missing(0.3))).advice.first)
    assert_includes advice.change, "--topologies 1x5,2x3`"
    assert_match(/\AKept to: the container's memory limit of 512 MiB, 67 MiB of it left free; 2 of 3/, advice.evidence.last)
  end

  test "a smaller error is told first, and the advice stands" do
    advice = told(advice_list(0.1).recommendation)
    assert_equal topology("2x7"), advice.topology
    assert_match(/does not reproduce the recording at 1x8/, advice.evidence.first)
  end

  # Of a model that misses by 20%, asked about an open load; at_more: its forecasts of p99 in ms where the load is heavier.
  def advice_at_a_rate(at_more, error_ratio: 0.2, **constraints)
    forecasts = ->(arrivals, tails) { sweep(*tails.map { |text, p99_ms| forecast(text, arrivals.rate_per_s, p99_ms:, arrivals:) }) }
    asked = @asked = []
    sweeper = ->(scenarios) { forecasts.call(asked.concat(scenarios.map(&:arrivals)).last, at_more) }
    at_the_rate = forecasts.call(Model::Arrivals.open(100), {"2x3" => 100, "2x5" => 60, "2x8" => 70}).with(self_check: missing(error_ratio))
    situation = Advise::Situation.new(workload, at_the_rate, constraints: Advise::Constraints.new(**constraints), sweeper:)
    told(Advise::Rules::Topology.new(situation).call.first)
  end

  test "of an open load, what is also the best with a load that is as much heavier as the model is off is recommended for all that" do
    advice = advice_at_a_rate({"2x3" => 200, "2x5" => 90, "2x8" => 100})
    assert_equal topology("2x5"), advice.topology
    assert_equal [Model::Arrivals.open(120)] * 3, @asked
    assert_equal "2x5 is recommended nevertheless, as it is the best with 120.0% of this load, too: an app that can " \
                 "take less than its model says meets a load as the model meets a heavier one.", advice.evidence.last
  end

  test "and where another one is, or there are goals, it is to be measured first" do
    another = advice_at_a_rate({"2x3" => 200, "2x5" => 150, "2x8" => 100})
    with_goals = advice_at_a_rate({"2x3" => 200, "2x5" => 90, "2x8" => 100}, goals: [Goal.read("99% < 95ms")])
    [another, with_goals].each do |advice|
      assert_nil advice.topology
      assert_match(/\ANo setting is recommended without a measurement/, advice.title)
    end
  end

  test "unknown memory is told as processes" do
    assert_equal "2 workers, today 1 (memory unknown); room for 6 database connections, today 5",
      advice(forecast("1x5", 100), forecast("2x3", 150)).cost
  end

  test "constraints are named, with how many topologies meet them" do
    advice = advice(forecast("1x5", 100, p99_ms: 90), forecast("2x3", 150), constraints: {goals: [Goal.read("99% < 95ms")]})
    assert_equal "Stay with 1x5", advice.title
    assert_equal "Asked for: 99% < 95 ms; 1 of 2 topologies meet it.", advice.evidence.last
  end

  test "leaving a topology that breaks a constraint may cost throughput, and the title says what for" do
    cells = [forecast("1x8", 100), forecast("1x2", 80, p99_ms: 50)]
    assert_equal "Go from 1x8 to 1x2, the cheapest that meets 99% < 60 ms: -20% requests/s",
      advice(*cells, constraints: {goals: [Goal.read("99% < 60ms")]}).title
  end

  test "a container's memory limit is kept, and told as such" do
    cells = [forecast("1x5", 100, memory_bytes: 100 << 20), forecast("2x3", 150, memory_bytes: 445 << 20), forecast("3x3", 200, memory_bytes: 446 << 20)]
    assert_equal topology("3x3"), advice(*cells).topology
    advice = advice(*cells, constraints: LIMITED)
    assert_equal topology("2x3"), advice.topology
    assert_equal "Kept to: the container's memory limit of 512 MiB, 67 MiB of it left free; 2 of 3 topologies meet it. `--memory` sets another limit.", advice.evidence.last
    assert_equal "Asked for: memory of at most 300 MiB; 2 of 3 topologies meet it, with processes that were not recorded taken to share nothing.",
      advice(cells.first, forecast("2x3", 150), forecast("3x3", 150), constraints: {max_memory_bytes: 300 << 20}).evidence.last
    assert_equal "Kept to: the container's memory limit of 512 MiB; 1 of 2 topologies meet it, as no more workers than today's: what they take is unknown. " \
      "`--memory` sets another limit.", advice(forecast("1x5", 100), forecast("2x3", 150), constraints: LIMITED).evidence.last
  end

  test "what a container bears today it is left, but it is filled no further" do
    cells = [forecast("2x3", 100, memory_bytes: 500 << 20), forecast("2x5", 150, memory_bytes: 500 << 20), forecast("3x3", 200, memory_bytes: 501 << 20)]
    assert_equal topology("2x5"), advice(*cells, constraints: LIMITED).topology
    assert_equal topology("3x3"), advice(*cells, constraints: {max_memory_bytes: 512 << 20}).topology
  end

  test "where today's itself goes beyond the container's limit, the title says what it is left for" do
    cells = [forecast("2x5", 100, memory_bytes: 600 << 20), forecast("1x5", 80, memory_bytes: 300 << 20)]
    assert_equal "Go from 2x5 to 1x5, to meet the container's memory limit of 512 MiB: -20% requests/s", advice(*cells, constraints: LIMITED).title
    assert_equal "Stay with 2x5: nothing predicted meets the container's memory limit of 512 MiB", advice(cells.first, constraints: LIMITED).title
  end

  test "constraints that nothing meets are named in the title" do
    advice = advice(forecast("1x5", 100), forecast("2x3", 150), constraints: {goals: [Goal.read("99% < 5ms")], max_memory_bytes: 1 << 20})
    assert_equal "Stay with 1x5: nothing predicted meets memory of at most 1 MiB and 99% < 5 ms", advice.title
    assert_equal 1.0, advice.throughput_ratio.value
  end

  test "the recommendation has its lines for puma.rb, and what prove takes" do
    advice = advice(forecast("1x5", 100), forecast("2x3", 150, p99_ms: 80))
    assert_equal [{"config/puma.rb" => "workers 2\nthreads 3, 3"}, {"topology" => "2x3"}], [advice.lines, advice.factors]
    assert_equal "workers 0\nthreads 5, 5", advice(forecast("1x1", 100), forecast("1x5", 150, p99_ms: 80)).lines.fetch("config/puma.rb")
  end

  test "that a single process runs no hooks of workers is said where a cluster is to become one" do
    recorded = observation(processes: [process_observation(role: "worker", worker_index: 0)] * 2, topology: topology("2x3"))
    evidence = ->(advised) { told(Advise::Rules::Topology.new(Advise::Situation.new(workload, sweep(forecast("2x3", 100), forecast(advised, 150, p99_ms: 80)), observation: recorded)).call.first).evidence }
    assert_match(%r{A single process runs no hooks of workers \(`before_fork`, `before_worker_boot` of config/puma\.rb\)}, evidence["1x8"].last)
    refute_match(/hooks/, evidence["3x3"].join)
  end

  # @param locks [Array<Model::LockDemand>] that were watched
  def beside_a_pool(*locks, more: "1x8", pool_ms: 2)
    waiting = workload(endpoints: [endpoint_demand(demand([2, 2], [pool_ms], wait_kinds: %w[pool]))]).with(locks:)
    told(Advise::Advisor.new.call(waiting, sweep(forecast("1x5", 100), forecast(more, 150, p99_ms: 80))).advice.find { |one| one.rule == "topology" })
  end

  test "waits for a pool that nobody watched are not answered with threads" do
    advice = beside_a_pool
    assert_predicate advice, :remark?
    assert_equal "No more threads before the pool of connections has more places (1x8 would be predicted)", advice.title
    assert_equal topology("1x8"), beside_a_pool(lock_demand(5)).topology
    assert_equal topology("2x3"), beside_a_pool(more: "2x3").topology
    assert_equal topology("1x8"), beside_a_pool(pool_ms: 0.1).topology
  end

  def pool(size, class_name: "ActiveRecord::ConnectionAdapters::ConnectionPool")
    Probe::LockObservation.new(id: 1, kind: "pool", class_name:, place: "app.rb:3 in show", size:, threads_count: 5,
      holds_count: 100, hold_ns: 900 * MS, waits_count: 0, wait_ns: 0)
  end

  # @param pools [Array<Probe::LockObservation>] that were watched beside 1x5
  def with_pools(*pools, advised: "2x8", rails: "8.1.0", **constraints)
    observation = observation().with(locks: pools, fingerprint: Probe::Fingerprint.from_document({"gem activerecord" => rails}))
    today = sweep(forecast("1x5", 100), forecast(advised, 150, p99_ms: 80))
    told(Advise::Advisor.new(Advise::Constraints.new(**constraints)).call(workload, today, observation:).recommendation)
  end

  test "where nobody has seen Active Record's pool, more threads come with what it needs" do
    unseen = lambda do |advised, gem|
      observation = observation().with(fingerprint: Probe::Fingerprint.from_document({gem => "8.1.0"}))
      told(Advise::Advisor.new(Advise::Constraints.new).call(workload, sweep(forecast("1x5", 100), forecast(advised, 150, p99_ms: 80)), observation:).recommendation)
    end
    assert_match(/pool was not seen \(locks were not watched\): with more threads it needs 8 places in each worker/, unseen["2x8", "gem activerecord"].evidence.last)
    refute_match(/pool/, [unseen["2x5", "gem activerecord"], unseen["2x8", "gem sequel"]].flat_map(&:evidence).join)
  end

  test "Puma's I/O threads take places, too" do
    observation = observation().with(locks: [pool(9)], fingerprint: Probe::Fingerprint.from_document({"gem activerecord" => "8.1.0"}))
    found = Advise::Advisor.new(Advise::Constraints.new).call(workload.with(io_threads_count: 2), sweep(forecast("1x5", 100), forecast("2x8", 150, p99_ms: 80)), observation:)
    assert_equal "max_connections: 10", told(found.recommendation).lines.fetch("config/database.yml")
  end

  test "threads that Active Record's pool has no places for come with the line that gives them some" do
    advice = with_pools(pool(9), pool(5))
    assert_equal({"config/puma.rb" => "workers 2\nthreads 8, 8", "config/database.yml" => "max_connections: 8"}, advice.lines)
    assert_equal "Active Record's pool has 5 places in each worker, for 8 threads: the line for config/database.yml makes it 8. " \
                 "Forecasts are of the pool as it is, and so is a proof, unless that file reads the size from the environment.", advice.evidence.last
    assert_equal "pool: 8", with_pools(pool(5), rails: "8.0.2").lines.fetch("config/database.yml")
    assert_equal "max_connections: 8", with_pools(pool(5), db_connections_count: 16).lines.fetch("config/database.yml"), "as many as the database takes"
  end

  test "threads of jobs in the same processes take places, too" do
    advice = with_pools(pool(8).with(threads_count: 9))
    assert_equal "max_connections: 12", advice.lines.fetch("config/database.yml")
    assert_match(/has 8 places in each worker, for 8 threads and 4 besides that were seen to query, .* makes it 12\. /, advice.evidence.last)
  end

  test "a pool with a place for each thread, another library's, or none that was watched has no line, nor has advice to stay" do
    alone = [with_pools(pool(8)), with_pools(pool(5, class_name: "ConnectionPool::TimedStack")), with_pools,
      with_pools(pool(3), advised: "2x3"), with_pools(pool(2), db_connections_count: 5)]
    assert_equal [["config/puma.rb"]] * 5, alone.map { |advice| advice.lines.keys }
    refute_match(/pool/, alone.flat_map(&:evidence).join)
    assert_equal topology("1x5"), alone.last.topology
  end
end
