# frozen_string_literal: true

require "support/tuning_fixture"

# Proofs on their own by hand: two versions of a gem in a served app, and two ways to write a block. Nothing here comes from
# a machine, so that what is made of it is the same everywhere.
module ProofFixture
  include PumaTuner

  MS = Units::NS_PER_MS
  BASELINE = "json 2.7.2"
  VARIANT = "json 2.8.1"

  # Metric, baseline's value and its spread, ratio and its interval's half width, outcome, minimum detectable effect.
  GEM = [
    ["throughput", 1_868.0, 0.011, 1.142, 0.010, :better, 0.012], ["p50", 5.31 * MS, 0.012, 0.874, 0.011, :better, 0.013],
    ["p90", 6.02 * MS, 0.019, 0.881, 0.017, :better, 0.021], ["p99", 9.87 * MS, 0.09, 0.931, 0.065, :not_shown, 0.088],
    ["cpu_per_request", 498_000.0, 0.006, 0.871, 0.004, :better, 0.005], ["gc_per_request", 21_400.0, 0.03, 0.992, 0.031, :not_shown, 0.041],
    ["gvl_wait_per_request", 2.31 * MS, 0.02, 0.862, 0.02, :better, 0.024], ["allocations_per_request", 4_124.0, 0.0005, 1.0004, 0.0004, :equivalent, 0.001],
    ["pss", 71.0 * Units::MIB, 0.008, 1.031, 0.009, :worse, 0.011], ["boot", 412.0 * MS, 0.04, 1.006, 0.03, :not_shown, 0.037]
  ].freeze

  BLOCK = [
    ["iterations", 41_200.0, 0.008, 1.006, 0.011, :not_shown, 0.014], ["cpu_per_iteration", 24_100.0, 0.007, 0.993, 0.009, :equivalent, 0.012],
    ["allocations_per_iteration", 31.0, 0.0, 0.613, 0.001, :better, 0.001], ["rss", 38.0 * Units::MIB, 0.01, 1.002, 0.012, :equivalent, 0.015]
  ].freeze

  # Microseconds of the mean request; the rest of the wall time is the residual.
  BUDGETS = {
    BASELINE => {wall: 5_300, queue: 2_440, gvl_wait: 2_310, cpu: 469, gc: 21, preempted: 12, io: 26},
    VARIANT => {wall: 4_640, queue: 2_150, gvl_wait: 1_991, cpu: 404, gc: 21, preempted: 11, io: 38}
  }.freeze

  FINGERPRINT = {
    [:allocator, nil] => "the C library's", [:env, "LANG"] => "C.UTF-8", [:env, "RACK_ENV"] => "production", [:env, "SECRET_KEY_BASE"] => "(8f1c22d0)",
    [:extension, "io/console"] => "ruby", [:extension, "json/ext/generator"] => "json-2.7.2", [:extension, "json/ext/parser"] => "json-2.7.2",
    [:gc, "settings"] => "rgengc_allow_full_mark=true", [:gem, "json"] => "2.7.2", [:gem, "puma"] => "8.0.2", [:gem, "rack"] => "3.2.8", [:puma, "queue_requests"] => "true",
    [:puma, "topology"] => "1x5", [:puma, "version"] => "8.0.2", [:ruby, nil] => "ruby 3.4.5 x86_64-linux", [:ruby, "flags"] => "", [:yjit, nil] => "on"
  }.freeze

  # Rounds go up and down by these, in percent; whole numbers from no particular order.
  NOISE = [0, 7, -4, 9, -8, 3, -6, 10, -2, 5, -9, -5].freeze

  module_function

  # @return [PumaTuner::Prove::Verdict] json 2.7.2 against json 2.8.1: the fifth round was void once, one trial never steady
  def gems(**fields)
    trials = (0...12).flat_map { |round| [*(void_gem_round if round == 4), *gem_round(round)] }
    verdict(GEM, Prove::Metric::SERVED, BASELINE, VARIANT, trials:, voided_count: 2, noise:, looks: [6, 9, 12], level_ratio: 0.982,
      cells: [gem_cell(BASELINE, "2.7.2", 0), gem_cell(VARIANT, "2.8.1", 1)],
      load: Prove::TrialLoad.new(generator: "puma_tuner load", connections_count: 10, arrivals: "closed loop", duration_ns: 5_000 * MS),
      expectations: [
        Prove::Expectation.new(text: "throughput >= 1.1", variant: VARIANT, shown: true, reason: nil),
        Prove::Expectation.new(text: "p99 <= 0.95", variant: VARIANT, shown: false, reason: PumaTuner::Statement.of(:elsewhere, interval: [0.912, 0.99], level_ratio: 0.96, outcome: nil, adjusted_p_value: nil))
      ], command: "puma_tuner prove config.ru --variant 'json 2.7.2:gem.json=2.7.2' --variant 'json 2.8.1:gem.json=2.8.1'", **fields)
  end

  # @return [PumaTuner::Prove::Verdict] two blocks, which differ by less than could be seen
  def blocks(**fields)
    trials = (0...12).flat_map { |round| pair(round) { |index| block_trial(index, round) } }
    verdict(BLOCK, Prove::Metric::BLOCK, "scan", "split", trials:, voided_count: 0, noise: [], looks: [12], level_ratio: 0.95,
      cells: [cell("scan", {"block" => "scan"}, BLOCK, 0), cell("split", {"block" => "split"}, BLOCK, 1)],
      load: Prove::TrialLoad.new(generator: nil, connections_count: nil, arrivals: nil, duration_ns: 2_000 * MS), expectations: [],
      command: "puma_tuner prove --block words.rb", **fields)
  end

  # @return [PumaTuner::Prove::Verdict] six variants: two factors, one of three values
  def factorial
    cells = %w[on off].product(%w[3 5 8]).each_with_index.map do |(yjit, threads), index|
      cell("yjit=#{yjit} threads=#{threads}", {"yjit" => yjit, "threads" => threads}, GEM.first(4), (index.zero? ? 0 : 1),
        fingerprint: FINGERPRINT.merge([:yjit, nil] => yjit, [:puma, "topology"] => "1x#{threads}"))
    end
    comparisons = cells.drop(1).flat_map { |cell| comparisons(GEM.first(4), cell.variant) }
    gems(baseline: cells.first.variant, cells:, comparisons:, trials: [], rounds_count: 12, voided_count: 0, expectations: [],
      stopped_because: PumaTuner::Statement.of(:planned_rounds, rounds_count: 12))
  end

  # @param text [String] that stands wherever people may write, or a process tells of itself
  # @return [PumaTuner::Prove::Verdict]
  def nasty(text)
    verdict = gems
    other = "#{text} other"
    names = {BASELINE => text, VARIANT => other}
    warmup = verdict.trials.first.warmup.with(steady: false, reason: text)
    verdict.with(baseline: text, command: text, stopped_because: PumaTuner::Statement.of(:told, text:), comparisons: verdict.comparisons.map { |one| one.with(variant: other) },
      metrics: verdict.metrics.map { |metric| metric.with(label: "#{metric.label} #{text}") },
      trials: verdict.trials.map { |trial| trial.with(variant: names[trial.variant], warmup:, conditions: {text => 1}, void: trial.void&.with(detail: PumaTuner::Statement.of(:told, text:))) },
      expectations: [Prove::Expectation.new(text:, variant: other, shown: false, reason: PumaTuner::Statement.of(:told, text:))],
      load: verdict.load.with(generator: text, arrivals: text), machine: verdict.machine.with(cpu_model: text, kernel: text),
      cells: verdict.cells.map { |cell|
        cell.with(variant: names[cell.variant], factors: {text => text}, fingerprint: {**cell.fingerprint, [:gem, text] => cell.variant + text}, remarks: [PumaTuner::Statement.of(:told, text:)])
      })
  end

  def verdict(rows, metrics, baseline, variant, trials:, voided_count:, **fields)
    Prove::Verdict.new(baseline:, primary: rows.first.first, metrics: metrics, trials:, voided_count:, comparisons: comparisons(rows, variant),
      rounds_count: (trials.size - voided_count) / 2, equivalent_ratio: 0.02, seed: 7, machine: TuningFixture.machine_facts,
      stopped_because: PumaTuner::Statement.of(:planned_rounds, rounds_count: (trials.size - voided_count) / 2), started_at: "2026-03-02T10:15:00Z", **fields)
  end

  # Of p99 a few rounds were far off, and the two intervals disagree.
  def comparisons(rows, variant)
    rows.each_with_index.map do |(metric, _, _, ratio, half, outcome, mde_ratio), index|
      ratio = estimate(ratio, half, (index.zero? && rows == GEM) ? 0.982 : 0.95)
      Prove::Comparison.new(variant:, metric:, ratio:, t_ratio: (metric == "p99") ? ratio.with(value: 0.952, low: 0.86, high: 1.052) : ratio,
        p_value: 0.00049, adjusted_p_value: index.zero? ? nil : {not_shown: 0.16}.fetch(outcome, 0.0044), mde_ratio:, predicted_ratio: nil, outcome:)
    end
  end

  def estimate(value, spread_ratio, level_ratio = nil) = TuningFixture.estimate(value, spread_ratio, samples_count: 12, level_ratio:)

  def noise
    [["throughput", 1.003, 0.006, 0.009], ["p50", 0.998, 0.008, 0.012], ["p99", 1.021, 0.061, 0.088], ["cpu_per_request", 1.001, 0.003, 0.005]]
      .map { |metric, ratio, sd_ratio, least| Prove::Noise.new(metric:, ratio: estimate(ratio, sd_ratio), sd_ratio:, mde_ratio: least) }
  end

  # @param index [Integer] 0 of the baseline
  def cell(variant, factors, rows, index, **fields)
    estimates = rows.to_h { |metric, value, spread_ratio, ratio, *| [metric, estimate(index.zero? ? value : value * ratio, spread_ratio)] }
    Prove::Cell.new(variant:, factors:, topology: nil, estimates:, predicted: {}, budget: nil, fingerprint: FINGERPRINT.except([:puma, "topology"], [:puma, "version"]),
      unsteady_count: 0, remarks: [], **fields)
  end

  def gem_cell(variant, version, index)
    remarks = (index == 1) ? [PumaTuner::Statement.of(:coarse_p99, requests_count: 1_000)] : []
    cell(variant, {"gem.json" => version}, GEM, index, topology: TuningFixture.topology("1x5"), budget: budget(BUDGETS.fetch(variant)),
      fingerprint: fingerprint(version), unsteady_count: index, remarks:)
  end

  def fingerprint(version)
    FINGERPRINT.to_h { |key, value| [key, value.sub("2.7.2", version)] }
  end

  # @param us [Hash{Symbol => Numeric}] wall and parts
  # @return [PumaTuner::Probe::Budget]
  def budget(us)
    parts = Probe::Parts::REQUEST.to_h { |part| [:"#{part}_ns", us.fetch(part, 0) && us.fetch(part, 0) * 1_000] }
    Probe::Budget.new(wall_ns: us.fetch(:wall) * 1_000, **parts, idle_ns: nil, pool_ns: 0, gc_waited_ns: 0, before_puma_ns: nil)
  end

  # Both variants, each first every other time.
  def pair(round)
    both = [yield(0), yield(1)]
    both.reverse! if round.odd?
    both.each_with_index.map { |trial, position| trial.with(position:) }
  end

  def gem_round(round) = pair(round) { |index| gem_trial(index, round) }

  def void_gem_round
    gem_round(4).map { |trial| (trial.variant == BASELINE) ? trial.with(void: Prove::Void.new(kind: :disturbed, detail: PumaTuner::Statement.of(:disturbed, taken_ratio: 0.213))) : trial }
  end

  def gem_trial(index, round)
    steady = !(index == 1 && round == 2)
    values = values(GEM, index, round)
    Prove::Trial.new(variant: [BASELINE, VARIANT][index], round:, position: 0, requests_count: (values["throughput"] * 5).round, values:,
      warmup: warmup(index, round, steady), memory: memory(index, round), budget: budget(BUDGETS.values[index]),
      conditions: {"run_queue_wait_ratio" => 0.041 + 0.0004 * NOISE[round], "foreign_cpu_ratio" => 0.012, "throttled_count" => 0, "lag_p99_ns" => 61_000 + 900 * NOISE[round]},
      fingerprint: fingerprint(%w[2.7.2 2.8.1][index]))
  end

  def block_trial(index, round)
    Prove::Trial.new(variant: %w[scan split][index], round:, position: 0, requests_count: 82_400, values: values(BLOCK, index, round),
      warmup: warmup(index, round, true), memory: memory(index, round).map { |count, _, rss| [count, nil, rss] })
  end

  def values(rows, index, round)
    rows.to_h { |metric, value, spread_ratio, ratio, *| [metric, (index.zero? ? value : value * ratio) * (1 + spread_ratio * NOISE[(round + index * 5) % 12] / 10.0)] }
  end

  def warmup(index, round, steady)
    level_ns = index.zero? ? 498_000 : 434_000
    windows = (1..6).map { |number| (level_ns * (1 + 1.9 / number**2.2 + 0.001 * NOISE[(round + number) % 12] + (steady ? 0 : 0.02 * (6 - number)))).round }
    Load::Warmup.new(steady:, reason: steady ? nil : "CPU per request had not settled after 6 windows", windows_count: 6, duration_ns: 3_000 * MS,
      requests_count: 5_400 + 20 * NOISE[round], cpu_per_request_ns: windows)
  end

  def memory(index, round)
    (0..10).map do |step|
      pss = (52 + (19 + index * 2.2) * (1 - 0.6**step) + 0.06 * NOISE[round]) * Units::MIB
      [step * (1_380 + index * 160), pss.round, (pss * 1.31).round]
    end
  end
end
