# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/trials"
require "support/tuning_fixture"
require "stringio"
require "tmpdir"

# Forecasts by a model that misses what it was made from.
module ForecastsThatMiss
  include Builders

  # @param error_ratio [Float] by which it misses the throughput that was recorded at 1x5
  # @return [Predict::Sweep] in which 2x7 serves the most
  def predicted(error_ratio:, spread_ratio: 0.01)
    figure = Predict::CheckedFigure.new(metric: "throughput", recorded: 100.0, simulated: estimate(100.0 * (1 + error_ratio)), error_ratio:, beyond_noise: true)
    check = Predict::SelfCheck.new(settings: [Predict::CheckedSetting.new(scenario: scenario("1x5"), figures: [figure], cause: PumaTuner::Statement.of(:no_part))])
    cells = {"1x5" => 100, "2x1" => 120, "2x3" => 190, "2x7" => 240}.map do |text, per_s|
      forecast(text, per_s).with(throughput_per_s: estimate(per_s, spread_ratio))
    end
    sweep(*cells).with(self_check: check)
  end
end

# What a tuning puts into its proof; the whole arrow is in integration/tune_test.rb.
class TunerVariantsTest < TunerTest
  include ForecastsThatMiss

  def variants(checked: [], **)
    sweep = predicted(**)
    nothing = Tuner::Plan.members.to_h { |member| [member, nil] }
    plan = Tuner::Plan.new(**nothing, constraints: Advise::Constraints.new, checked_topologies: checked.map { |text| topology(text) })
    advice_list = Advise::Advisor.new(plan.constraints).call(workload, sweep)
    variants = Tuner.new(plan, progress: nil).send(:variants_of, sweep, advice_list)
    variants.map { |variant| [variant.name, variant.factors.fetch("topology")] }
  end

  # @return [Tuner]
  def tuner(**fields)
    traffic = Load::Traffic.new(mix: Load::Mix.of_paths(["/"]), generator: Load::Native.new, connections_count: 4, seed: 1)
    command = Host::Command.new(words: ["puma"], directory: "/", environment: {})
    Tuner.new(Tuner::Plan.new(**Tuner::Plan.members.to_h { |member| [member, nil] }, traffic:, command:, rounds_count: 6, warmup_s: 1, trial_duration_s: 1,
      boot_limit_s: 1, seed: 1, constraints: Advise::Constraints.new, checked_topologies: [], **fields), progress: nil)
  end

  test "what may differ is passed on to the proof, and how many requests are simulated to the forecasts" do
    allowed = Prove::Factors.allowed(["gem rack"])
    variants = %w[1x5 2x3].map { |text| Prove::Variant.new(name: text, factors: {"topology" => text}) }
    predicted = sweep(forecast("1x5", 100), forecast("2x3", 190))
    assert_equal allowed, tuner(allowed:).send(:setup, variants, predicted, Advise::Constraints.new).plan.allowed
    sweeper = ->(goals) {
      tuner = tuner(simulated_requests: 20_000, track_record: Predict::TrackRecord.new("/nowhere"))
      tuner.send(:sweeper, workload, machine, goals)
    }
    goals = [Goal.read("90% < 1s")]
    assert_equal [20_000], [[], goals].map { |some| sweeper[some].call([]).requests_count }.uniq
  end

  # Requests that let go of the GVL 190 times, and eight settings for each core.
  def many_releases = workload(endpoints: [endpoint_demand(demand([0.02] * 191, [0.01] * 190))])

  # @return [Tuner]
  def tuner_of_many_settings(**fields)
    topologies = [1, 2].product((1..8).to_a).map { |pair| Topology.from(*pair) }
    tuner(topologies:, track_record: Predict::TrackRecord.new("/nowhere"), **fields)
  end

  # @return [Integer] by two cores, unless there are others
  def planned_count(of: many_releases, on: machine(cores_count: 2), goals: [], **fields)
    tuner_of_many_settings(simulated_requests: 5_000, **fields).send(:simulated_requests_count, of, on, goals)
  end

  test "--time has as many requests simulated as a tenth of it is enough for, with the cores that the container may use" do
    assert_equal [5_000, 3_900, 1_500], [nil, 300, 120].map { |time_limit_s| planned_count(time_limit_s:) }
    limited = machine(cores_count: 8).with(quota_ns: 100 * MS, period_ns: 100 * MS)
    assert_equal [5_000, 1_900], [machine(cores_count: 8), limited].map { |on| planned_count(time_limit_s: 300, on:) }
    checked = %w[1x5 2x8].map { |text| topology(text) }
    assert_equal 1_500, planned_count(time_limit_s: 120, checked_topologies: checked), "each setting counts once"
  end

  test "no requests are left out of short ones, with a goal, at a rate, or where nothing is to be proven" do
    facts = [{of: workload}, {arrivals: Model::Arrivals.open(50)}, {rounds_count: 0}, {goals: [Goal.read("90% < 1s")]}]
    assert_equal [5_000, 5_000, 5_000, 10_000], facts.map { |fact| planned_count(time_limit_s: 120, **fact) }
    open = many_releases.with(arrivals: Model::Arrivals.open(50))
    assert_equal 5_000, planned_count(time_limit_s: 120, of: open)
  end

  test "that fewer requests are simulated is told with the forecasts" do
    tuner = tuner_of_many_settings(simulated_requests: 1_200, time_limit_s: 10)
    sweep = tuner.send(:sweeper, many_releases, machine(cores_count: 2), []).call([])
    told = "to fit into the time limit, each simulation counts 1000 requests instead of 1200, " \
      "so that chance makes the intervals of forecasts wider"
    assert_equal [1_000, [told]], [sweep.requests_count, sweep.remarks]
  end

  # @return [Integer] turns of a round of 1x5 and 2x3, which are predicted to take 300 and 500 MiB
  def turns_count(**limit)
    predicted = sweep(forecast("1x5", 100, memory_bytes: 300 << 20), forecast("2x3", 190, memory_bytes: 500 << 20))
    plan = Tuner::Plan.new(**Tuner::Plan.members.to_h { |member| [member, nil] }, warmup_s: 1, trial_duration_s: 1, boot_limit_s: 1)
    variants = %w[1x5 2x3].map { |text| Prove::Variant.new(name: text, factors: {"topology" => text}) }
    Tuner.new(plan, progress: nil).send(:trial_times, variants, predicted, Advise::Constraints.new(**limit)).turns_count
  end

  test "servers that do not fit beside each other into the machine, or its container, run one at a time in the proof" do
    fits, fits_not = [900, 700].map { |mib| %w[machine container].map { |by| turns_count(max_memory_bytes: mib << 20, memory_limited_by: by) } }
    assert_equal [[1, 1], turns_count, turns_count], [fits_not, *fits]
    assert_operator turns_count, :>, 1
    assert_equal turns_count, turns_count(max_memory_bytes: 700 << 20), "what was asked for is about production"
  end

  # @param spread_ratio [Float] of forecasts; with a small one, one of three likely settings is recommended
  # @return [Prove::Proof::Plan] of a tuning that proves these, and those that were asked for
  def planned(checked, spread_ratio: 0.5, **)
    tuner = tuner(checked_topologies: checked.map { |text| topology(text) }, **)
    sweep = predicted(error_ratio: 0.3, spread_ratio:)
    list = Advise::Advisor.new(Advise::Constraints.new).call(workload, sweep)
    tuner.send(:setup, tuner.send(:variants_of, sweep, list), sweep, Advise::Constraints.new).plan
  end

  test "as many rounds are planned as can show something of all settings, of which those that nobody asked for may be left out" do
    plans = [[], ["2x3"], ["1x1"]].map { |checked| planned(checked, rounds_count: nil) }
    assert_equal [[8, %w[2x7 2x3 2x1]], [8, %w[2x7 2x1]], [9, %w[2x7 2x3 2x1]]], plans.map { |plan| [plan.looks.rounds_max, plan.spare.map(&:name)] }
    assert_equal [6, %w[2x3 2x1]], planned([], spread_ratio: 0.01).then { |plan| [plan.looks.rounds_max, plan.spare.map(&:name)] }
  end

  test "a goal is held against what is recommended, or the likeliest setting, whatever else was asked for" do
    constraints = Advise::Constraints.new(goals: [Goal.read("90% < 1s")])
    assert_equal %w[recommended 2x7], [0.01, 0.5].flat_map { |spread_ratio|
      planned(["1x1"], spread_ratio:, constraints:).expectations.instance_variable_get(:@wanted).map(&:variant)
    }
  end

  test "rounds that are too few for what was asked for are told before anything is measured" do
    told = lambda do |rounds, *checked|
      err = StringIO.new
      CLI::Commands::Tune.new(out: StringIO.new, err:).send(:tell_too_few, rounds, checked.map { |text| topology(text) }, topology("1x5"))
      err.string
    end
    assert_equal [""] * 4, [told[nil, "2x1", "2x3"], told[0], told[6, "1x5"], told[7, "2x1", "2x3"]]
    assert_equal "puma_tuner: 5 rounds can't show anything of 1 setting beside today's: it takes 6 or more\n", told[5]
    assert_match(/ of 3 settings beside today's \(a recommended one and what --check names\): it takes 7 or more$/, told[6, "2x1", "2x3"])
  end

  test "the recommended setting is proven beside today's" do
    assert_equal [%w[today 1x5], %w[recommended 2x7]], variants(error_ratio: 0.1)
  end

  test "without a recommendation for want of trust, the likeliest settings are measured instead of one" do
    unsure = {error_ratio: 0.3, spread_ratio: 0.5}
    assert_equal [%w[today 1x5], %w[2x7 2x7], %w[2x3 2x3], %w[2x1 2x1]], variants(**unsure)
    assert_equal [%w[today 1x5], %w[2x7 2x7], %w[2x3 2x3], %w[2x1 2x1], %w[1x1 1x1]], variants(**unsure, checked: %w[2x3 1x1 1x5])
  end

  test "where something is recommended for all that, the likeliest others are measured beside it" do
    assert_equal [%w[today 1x5], %w[recommended 2x7], %w[2x3 2x3], %w[2x1 2x1]], variants(error_ratio: 0.3)
  end
end

# What a tuning recommends after its proof, in which other settings stood beside the recommended one.
class TunerByProofTest < TunerTest
  include ForecastsThatMiss

  # @param speeds [Hash{String => Numeric}] measured, by topology, times today's; others are as fast as today's
  # @param error_ratio [Float] of the model; with 0.3 and a small spread it recommends 2x7, and proves 2x3 and 2x1, too
  # @return [Array(Tuning, String)] after the proof, and what the command says last
  def proven(speeds, error_ratio: 0.3, spread_ratio: 0.01, checked: [], primary: "throughput", goals: [])
    Dir.mktmpdir do |folder|
      nothing = Tuner::Plan.members.to_h { |member| [member, nil] }
      track_record = Predict::TrackRecord.new(File.join(folder, "forecasts.json"))
      tuner = Tuner.new(Tuner::Plan.new(**nothing, track_record:, checked_topologies: checked.map { |text| topology(text) }), progress: nil)
      sweep = predicted(error_ratio:, spread_ratio:)
      advice_list = Advise::Advisor.new(Advise::Constraints.new(goals:)).call(workload, sweep)
      before = Tuning.new(command: "", recorded_at: "", observation:, machine:, workload:, sweep:, advice_list:, verdict: nil)
      variants = tuner.send(:variants_of, sweep, advice_list)
      tuning = tuner.send(:proven, before, verdict(variants, primary) { |variant| speeds.fetch(variant.topology.to_s, 1.0) })
      [tuning, last_words(tuning)]
    end
  end

  # @return [Prove::Verdict] of eight rounds, in which each variant is within a percent of its speed
  def verdict(variants, primary)
    facts = lambda do |variant, round|
      speed = yield(variant) * (1 + 0.005 * ((round + variant.name.size) % 3 - 1))
      {values: {"throughput" => 100.0 * speed, "p50" => 1e7 / speed, "p99" => 2e7 / speed}}
    end
    looks = Prove::Looks.fixed(8)
    trials = Prove::Rounds.new(variants:, looks:, trial_runner: Trials::FakeRunner.new(facts:), random: Random.new(1)).call
    Prove::Judge.new(variants:, trials:, primary:, looks:).call(noise: [], load: nil, seed: 1, machine: nil,
      started_at: "2026-01-01T00:00:00Z", command: "puma_tuner tune", stopped_because: nil, expectations: [])
  end

  def last_words(tuning)
    err = StringIO.new
    CLI::Commands::Tune.new(out: StringIO.new, err:).send(:tell_next, tuning, "recorded.json", {})
    err.string
  end

  def headline(...) = Report::Contents.of(proven(...).first).headline

  test "what the rounds showed to be better than the recommended setting is headline and advice, and what is to be set" do
    tuning, last = proven({"2x7" => 1.3, "2x3" => 1.4, "2x1" => 1.8})
    assert_match(/\AGo from 1x5 to 2x1: 1\.\d+x .* requests\/s, measured\z/, Report::Contents.of(tuning).headline)
    advice = tuning.advice_list.recommendation
    assert_equal [topology("2x1"), "workers 2\nthreads 1, 1"], [advice.topology, advice.lines["config/puma.rb"]]
    assert_equal "puma_tuner: to set for 2x1, which the proof showed to be better:\n" \
                 "  config/puma.rb:\n    workers 2\n    threads 1, 1\n", last
  end

  test "so it is by p99, of which less is better; not by the p50 of a load that has too few requests for that" do
    assert_match(/\AGo from 1x5 to 2x1: 0\.5\d+x .* p99, measured\z/, headline({"2x7" => 1.3, "2x1" => 1.8}, primary: "p99"))
    assert_match(/\AGo from 1x5 to 2x7: 0\.5\d+x /, headline({"2x7" => 1.8, "2x1" => 1.3}, primary: "p99"))
    assert_match(/\AGo from 1x5 to 2x7: 0\.7\d+x /, headline({"2x7" => 1.3, "2x1" => 1.8}, primary: "p50"))
  end

  # With 1.018 times the speed an interval lies from 1.008 to 1.023.
  test "the recommended setting stays where none is told apart from it, or is better by less than counts" do
    [1.51, 1.5 * 1.018].each do |speed|
      tuning, last = proven({"2x7" => 1.5, "2x1" => speed})
      assert_match(/\AGo from 1x5 to 2x7: 1\./, Report::Contents.of(tuning).headline)
      assert_match(/`puma_tuner advise recorded\.json --diff` shows/, last)
    end
    assert_match(/\AGo from 1x5 to 2x1: 1\./, headline({"2x7" => 1.5, "2x1" => 1.5 * 1.04}))
  end

  test "of settings that are as good the one with the fewest slots is taken, and of others the best" do
    assert_match(/\AGo from 1x5 to 2x1: /, headline({"2x7" => 1.3, "2x3" => 1.8, "2x1" => 1.79}))
    assert_match(/\AGo from 1x5 to 2x3: /, headline({"2x7" => 1.3, "2x3" => 1.8, "2x1" => 1.7}))
  end

  test "what was shown to be better takes the place of what was not, or made the app worse; that alone is not told to be set" do
    [1.0, 0.7].each do |speed|
      tuning, last = proven({"2x7" => speed, "2x1" => 1.4})
      assert_match(/\AGo from 1x5 to 2x1: 1\./, Report::Contents.of(tuning).headline)
      assert_match(/but did not show that of 2x7/, told(tuning.advice_list.recommendation).evidence.first)
      assert_match(/to set for 2x1/, last)
    end
    tuning, last = proven({"2x7" => 0.7})
    assert_match(/measured to be worse: Go from 1x5 to 2x7/, Report::Contents.of(tuning).headline)
    assert_empty last
  end

  test "where nothing was recommended, what is better than today's setting is; nothing is where none is" do
    unsure = {spread_ratio: 0.5}
    assert_match(/\AGo from 1x5 to 2x1: 1\./, headline({"2x7" => 0.8, "2x1" => 1.5}, **unsure))
    tuning, last = proven({"2x7" => 0.8}, **unsure)
    assert_equal [nil, ""], [tuning.advice_list.recommendation, last]
  end

  test "of a model that can be trusted the same holds for settings that were asked for, also where it keeps today's" do
    trusted = {error_ratio: 0.1, checked: ["2x3"]}
    assert_match(/\AGo from 1x5 to 2x3: 1\./, headline({"2x7" => 1.3, "2x3" => 1.8}, **trusted))
    assert_match(/\AGo from 1x5 to 2x3: 1\./, headline({"2x3" => 1.8}, **trusted, spread_ratio: 0.5))
    assert_equal "Stay with 1x5", headline({}, **trusted, spread_ratio: 0.5)
    assert_equal "Stay with 1x5", headline({"2x3" => 1.8}, **trusted, goals: [Goal.read("99% < 1s")])
  end
end

# What a tuning proves where its recommendation has more threads than Active Record's pool has places.
class TunerPoolTest < TunerTest
  include Builders

  POOL = Statement.of(:too_few_places, size: 2, places_count: 3, threads_count: 3)

  # @return [Advise::AdviceList] with that advice
  def advice_list = TuningFixture.advice_list.with(advice: [TuningFixture.go.with(evidence: [POOL], lines: {"config/database.yml" => "pool: 3"})])

  # @yieldparam tuner [Tuner] of an app with that database.yml
  # @yieldparam records [Array] of forecasts, and of proofs
  def tuner(database_yml)
    Dir.mktmpdir do |folder|
      FileUtils.mkdir(File.join(folder, "config"))
      File.write(File.join(folder, "config/database.yml"), database_yml)
      records = [Predict::TrackRecord.new(File.join(folder, "forecasts.json")), Advise::ProofRecord.new(File.join(folder, "proofs.json"))]
      nothing = Tuner::Plan.members.to_h { |member| [member, nil] }
      plan = Tuner::Plan.new(**nothing, checked_topologies: [], command: Host::Command.new(words: ["puma"], directory: folder, environment: {}),
        track_record: records.first, proof_record: records.last)
      yield Tuner.new(plan, progress: nil), records
    end
  end

  # @return [Array] the recommended variant, how many forecasts were checked by its proof, and what is remembered of the advice
  def proven(database_yml)
    tuner(database_yml) do |tuner, (forecasts, proofs)|
      variant = tuner.send(:variants_of, TuningFixture.sweep, advice_list).last
      verdict = TuningFixture.verdict
      verdict = verdict.with(cells: [verdict.cells.first, verdict.cells.last.with(factors: variant.factors)])
      tuner.send(:remember, verdict, TuningFixture.sweep, observation, machine, advice_list.recommendation)
      [variant, forecasts.past_error("")["checks_count"], proofs.of("")]
    end
  end

  test "a pool whose size a variable says has a place for each thread in the proof, which is held against no forecast" do
    variant, checks_count, remembered = proven("all:\n  pool: <%= ENV.fetch(\"RAILS_MAX_THREADS\") { 2 } %>\n")
    assert_equal [{"topology" => "2x3", "env.RAILS_MAX_THREADS" => "3"}, nil, 1], [variant.factors, variant.forecast, checks_count]
    assert_equal [[:better, nil, Model::Arrivals.closed(20)]], remembered.map { |one| [one.outcome, one.predicted, one.arrivals] }
  end

  test "another pool is proven as it is, which says how good the forecast was, and nothing of the advice" do
    variant, checks_count, remembered = proven("all:\n  pool: 2\n")
    assert_equal [{"topology" => "2x3"}, 2, []], [variant.factors, checks_count, remembered]
    refute_nil variant.forecast
  end

  # @param factors [Hash] of the recommended variant, beside its topology
  def report(**factors)
    verdict = TuningFixture.verdict
    cell = verdict.cells.last.then { |one| one.with(factors: {**one.factors, **factors}) }
    Report.render(TuningFixture.tuning(advice_list:, verdict: verdict.with(cells: [verdict.cells.first, cell])), format: :markdown)
  end

  test "a proof with too few places says so, in short and beside its figures; one with enough names what was set" do
    words = "While recommended was measured, Active Record's pool had 2 places for 3 threads: set the line for config/database.yml first, which makes it 3"
    assert_equal 2, report.scan(words).size
    assert_operator report.rindex(words), :>, report.index("Proof: measured against today")
    set = report("env.POOL": "3")
    refute_includes set, "While recommended was measured"
    assert_includes set, "recommended (2x3, env.POOL=3) is better"
  end
end

# What a tuning leaves for the next forecasts of its app.
class TunerTrackRecordTest < TunerTest
  include Builders

  # @return [Hash, nil] what the record has of the app afterwards
  def remembered(verdict:, taken_ratio: nil)
    Dir.mktmpdir do |folder|
      record = Predict::TrackRecord.new(File.join(folder, "forecasts.json"))
      nothing = Tuner::Plan.members.to_h { |member| [member, nil] }
      tuner = Tuner.new(Tuner::Plan.new(**nothing, track_record: record), progress: nil)
      recorded = observation(load: load_summary.with(taken_ratio:))
      tuner.send(:remember, verdict, sweep(forecast("1x5", 100), forecast("2x3", 190)), recorded, machine)
      record.past_error("") # no app was measured
    end
  end

  def disturbed(ratio) = Prove::Disturbed.new(taken_ratio: estimate(ratio), again_count: 0, explained_ratio: nil, quiet_effect_ratio: nil)

  test "a quiet proof tells how good the forecasts were" do
    assert_equal 2, remembered(verdict: TuningFixture.verdict)["checks_count"]
    assert_equal 2, remembered(verdict: TuningFixture.verdict.with(disturbed: disturbed(0.1)), taken_ratio: 0.1)["checks_count"]
  end

  test "a proof beside others, or one that ended early, tells nothing of the forecasts" do
    assert_nil remembered(verdict: TuningFixture.verdict.with(disturbed: disturbed(0.4)))
    assert_nil remembered(verdict: TuningFixture.verdict.with(complete: false))
  end

  test "nor does a proof of what was recorded beside others" do
    assert_nil remembered(verdict: TuningFixture.verdict, taken_ratio: 0.4)
  end
end
