# frozen_string_literal: true

require_relative "tuning_fixture"

# Advice by hand, in all that it can have: a recommendation, changes with lines, remarks, what earlier proofs showed, what
# this one showed; and every way in which a recommendation can go. Nothing comes from a machine.
module AdviceFixture
  include PumaTuner

  module_function

  def say(kind, **facts) = PumaTuner::Statement.of(kind, **facts)

  # @return [PumaTuner::Stats::Estimate]
  def estimate(value, spread_ratio = 0.1, samples_count: 10)
    Stats::Estimate.new(value:, low: value * (1 - spread_ratio), high: value * (1 + spread_ratio), level_ratio: 0.95, samples_count:)
  end

  # @return [PumaTuner::Advise::Advice] for the environment
  def time_slice
    Advise::Advice.new(rule: "long_bursts", topology: nil, throughput_ratio: estimate(1.01), p50_ratio: estimate(0.62), p99_ratio: estimate(1.2),
      title: say(:long_bursts), change: say(:short_timeslice, timeslice_ms: 10), cost: say(:longer_bursts), undo: say(:timeslice, timeslice_ms: nil),
      evidence: [say(:bursts_of_endpoint, endpoint: "GET /report", long_count: 9, requests_count: 60, long_ns: 50_000_000, longest_ns: 180_000_000), say(:others_wait, threads_count: 5)],
      lines: {"environment" => "RUBY_THREAD_TIMESLICE=10"}, factors: {"env.RUBY_THREAD_TIMESLICE" => "10"})
  end

  # @return [PumaTuner::Advise::Advice] a remark with lines for a file
  def preload
    Advise::Advice.new(rule: "preload", topology: nil, throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil, title: say(:not_preloaded),
      change: say(:preload), cost: say(:fork_order, active_record: true), undo: say(:preload_off), evidence: [say(:own_memory, pss_bytes: 210 << 20, workers_count: 4)],
      lines: {"config/puma.rb" => "preload_app!\nbefore_worker_boot do\n  CACHE.reconnect\nend"}, factors: {"puma.preload_app" => "true"})
  end

  # @return [PumaTuner::Advise::Tail]
  def tail
    parts = {gvl_wait: [1.2, 31.0], cpu: [3.6, 9.1], io: [6.1, 6.4], gc: [0.3, 4.2], queue: [0.0, 0.4], lock: [0, 0], sleep: [0, 0]}
    Advise::Tail.new(percentile_ratio: 0.99, slow_count: 6, requests_count: 512, cause: :gvl_wait, cause_ratio: 0.7498, p99_ns: estimate(61_000_000.0),
      parts: parts.map { |name, (usual_ms, slow_ms)| Advise::TailPart.new(name:, usual_ns: usual_ms * 1_000_000, slow_ns: slow_ms * 1_000_000) },
      without_gc_ratio: estimate(0.95), one_thread_ratio: estimate(0.55))
  end

  # @return [PumaTuner::Advise::AdviceList] with lines to set, a proof to run and a tail
  def with_lines = Advise::AdviceList.new(advice: [TuningFixture.go, time_slice, preload], tail:, today: Topology.parse("1x5"))

  # @return [PumaTuner::Advise::Measured] what a proof showed of an advice
  def measured(advice, outcome, ratio, metric: "throughput", predicted: advice.throughput_ratio, topology: advice.topology)
    Advise::Measured.new(rule: advice.rule, lines: advice.lines, topology:, today: Topology.parse("1x5"), metric:, outcome:, predicted:,
      ratio: ratio && estimate(ratio, 0.04, samples_count: 12), measured_at: "2026-02-14T08:00:00Z")
  end

  # @return [PumaTuner::Advise::AdviceList] beside which stands what earlier proofs showed, and what is left out for it
  def with_experience
    go = TuningFixture.go
    before = {better: [go, 1.62], not_shown: [time_slice, 0.99]}.map { |outcome, (advice, ratio)| advice.with(measured: measured(advice, outcome, ratio)) }
    withheld = [measured(go, :worse, 0.81, topology: Topology.parse("2x8")), measured(time_slice, :fails, nil, predicted: nil)]
    Advise::AdviceList.new(advice: [*before, preload, TuningFixture.remark], withheld:, today: Topology.parse("1x5"))
  end

  # @return [PumaTuner::Tuning] of `advise --prove`: one variant for each advice that has anything to set
  def proven
    go = TuningFixture.go
    malloc = time_slice.with(rule: "malloc")
    checks = [
      check(go, measured(go, :better, 1.62)), check(time_slice, measured(time_slice, :not_shown, 1.02)),
      check(preload, measured(preload, :better, 0.83, metric: "pss")), check(malloc, measured(malloc, :worse, 0.9, predicted: estimate(1.2, 0.05))),
      check(time_slice.with(rule: "affinity"), measured(time_slice, :fails, nil)),
      AdviceCheck.new(rule: "lock_bound", reason: say(:no_lines)),
      AdviceCheck.new(rule: "starved_pool", reason: say(:pool_in_file, path: "config/database.yml")),
      AdviceCheck.new(rule: "keep_alive", reason: say(:computed_there, lines: ["max_keep_alive 20"]))
    ]
    TuningFixture.tuning(advice_list: with_experience, checks:, verdict: TuningFixture.verdict(other: "topology"))
  end

  def check(advice, measured) = AdviceCheck.new(rule: advice.rule, variant: advice.rule, measured:)

  # Every title that the recommendation can have, by its kind.
  #
  # @return [Hash{Symbol => PumaTuner::Advise::Advice}]
  def titles
    goals = Advise::Constraints.new(goals: [Goal.read("99% < 200ms"), Goal.read("GET /articles/:id: 90% < 80ms")], max_memory_bytes: 2 << 30, db_connections_count: 20)
    arrivals = Model::Arrivals.open(320).summary
    go, settings = TuningFixture.go, {today: "1x5", advised: "2x3"}
    remark = {topology: nil, throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil, evidence: [TuningFixture.evidence_today]}
    unsteady = say(:unsteady, who: "today", topology: "1x5", reason: say(:beyond_capacity, rate_per_s: 320.0, capacity_per_s: 251.0))
    more = go.with(throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil, evidence: [unsteady])
    measure = {change: say(:measure, topologies: %w[1x5 2x3 2x1]), cost: say(:minutes), undo: say(:nothing_changed)}
    {
      stay: TuningFixture.stay, stay_unmet: TuningFixture.stay.with(title: say(:stay_unmet, today: "1x5", constraints: goals)), go:,
      go_for_less: go.with(title: say(:go, **settings, constraints: goals, slots_less_count: 4)),
      go_cheapest: go.with(title: say(:go_cheapest, **settings, constraints: goals, throughput_ratio: 0.93),
        evidence: [say(:constraints, constraints: goals, met_count: 3, all_count: 16, supposed: nil), TuningFixture.evidence_today]),
      go_to_steady: more.with(title: say(:go_to_steady, **settings)),
      go_to_more: more.with(throughput_ratio: estimate(1.65, 0.02), title: say(:go_to_more, **settings, per_s: [415, 410, 420], arrivals:, machines_count: 2)),
      no_topology: go.with(**remark, title: say(:no_topology, constraints: goals, arrivals:), evidence: [unsteady], change: say(:something_larger), cost: say(:resources_or_work),
        undo: say(:puma_options, topology: "1x5")),
      measure_first: go.with(**remark, title: say(:measure_first, missed: [["1x5", 0.79], ["2x1", 1.22]]), **measure),
      pool_before_threads: go.with(**remark, title: say(:pool_before_threads, advised: "1x8"), change: say(:watch_pool), cost: say(:minutes), undo: say(:nothing_changed))
    }
  end
end
