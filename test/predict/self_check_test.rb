# frozen_string_literal: true

require "test_helper"
require "json"
require "support/recordings"

class SelfCheckTest < TunerTest
  include Recordings

  # What one thread recorded of an app whose requests take turns at a lock: nobody waited long for it.
  def lock_app = varied_workload(lock_ms: 6)

  def lock_recordings
    one_at_a_time = [Predict::Station.new(kind: "lock", servers_count: 1)]
    [recording(lock_app, "1x1", connections_count: 1, stations: one_at_a_time), recording(lock_app, "1x8", stations: one_at_a_time)]
  end

  def sentences(check) = Report::SelfCheckWords.sentences(check)

  def reproduced(check) = Report::SelfCheckWords.reproduced(check)

  # With eight threads each of its requests takes twice the CPU.
  def cpu_recordings = [recording(varied_workload, "1x1"), recording(varied_workload(cpu_factor: 2), "1x8")]

  test "what the model reproduces is told in one line, and changes no interval" do
    sweep = sweep_of(varied_workload, *%w[1x5 1x1 2x3].map { |text| recording(varied_workload, text) })
    assert_empty sentences(sweep.self_check)
    assert_predicate sweep, :trusted?
    told = reproduced(sweep.self_check)
    assert_match(/\AThe model reproduces its recordings within noise \(1x5 with 10 connections: throughput /, told)
    assert_match(/: throughput [+-]\d%, p50 [+-]\d%, p99 [+-]\d+%; 1x1 /, told)
    assert_equal sweep_of(varied_workload).forecasts, sweep.forecasts
  end

  test "a companion is held against what the recordings tell of its setting, not against the first recording" do
    cost = lambda do |text, ms|
      Model::Cost.new(topology: topology(text), cpu_ns: ms * MS, gc_ns: 0, long_gc_ratio: 0.0, long_gcs_ns: [],
        io_ns: 0, releases_count: 0, switches_count: 0, busy_cores: 1.0)
    end
    seen = lambda do |text, per_s|
      Model::Recorded.new(topology: topology(text), arrivals: Model::Arrivals.closed(10), throughput_per_s: per_s,
        p50_ns: nil, p99_ns: nil, requests_count: 1_000, duration_ns: 1, budget: Probe::Budget.zero)
    end
    app = workload(endpoints: [endpoint_demand(demand([8]))], observed_topology: topology("1x1"))
      .with(costs: [cost.call("1x1", 8), cost.call("2x1", 4)],
        recorded: [seen.call("1x1", 125.0), seen.call("2x1", 500.0)])
    check = Predict::Sweeper.new(workload: app, machine:, seed: 1, seeds_count: 3).self_check
    assert_equal [["throughput"]] * 2, check.settings.map { |setting| setting.figures.map(&:metric) }
    assert_empty check.off
  end

  test "a recording is held against as many simulations as are usual, however few are asked for" do
    check = sweep_of(varied_workload, *cpu_recordings, seeds_count: 2).self_check
    counts = check.settings.flat_map(&:figures).map { |figure| figure.simulated.samples_count }
    assert_equal [Predict::Sweeper::DEFAULT_SEEDS_COUNT], counts.uniq
    assert_equal %w[1x8], check.off.map { |setting| setting.scenario.topology.to_s }
  end

  # Requests that take two locks in opposite orders: one thread never waits for itself.
  def opposite_orders
    wait_kinds = %w[acquire db acquire db release release]
    demands = [[0, 1], [1, 0]].map { |one, other| demand([1] * 7, [one, 2, other, 2, other, one], wait_kinds:) }
    workload(endpoints: [endpoint_demand(*demands)], kinds_of_locks: %w[mutex mutex], observed_topology: topology("1x8"))
  end

  # With eight threads it served, too: they happened never to take the locks at the same time.
  def opposite_recordings = %w[1x8 1x1].map { |text| recording(opposite_orders, "1x1").with(topology: topology(text)) }

  test "a recorded setting whose simulation ends in a deadlock is told, with the locks, and the others are held against theirs" do
    sweep = sweep_of(opposite_orders, *opposite_recordings, texts: %w[1x1 1x8])
    assert_equal %w[1x8], sweep.self_check.off.map { |setting| setting.scenario.topology.to_s }
    deadlock = "requests that hold locks wait for each other's forever (a deadlock): lock 0 and lock 1"
    told = sentences(sweep.self_check)
    assert_match(/ at 1x8 with 10 connections: 0\.00 requests\/s simulated, \d+\.?\d* recorded \(-100%\)\. /, told.first)
    assert_operator told.first, :end_with?, "Likely cause: #{deadlock}."
    assert_equal 1, told.size, "no interval is wider"
    assert_equal [deadlock, nil], %w[1x8 1x1].map { |text| in_words(sweep.at(topology(text)).unsteady) }
    assert_equal sweep.self_check, Document.parse(Document.dump(sweep), "sweep.json", [:sweep]).self_check
  end

  test "nothing is recommended by a model in which what served ends in a deadlock" do
    [workload.arrivals, Model::Arrivals.open(20)].each do |arrivals|
      app = opposite_orders.with(recorded: opposite_recordings)
      sweeper = Predict::Sweeper.new(workload: app, machine: machine(cores_count: 4), seed: 1, requests_count: 500)
      sweep = sweeper.call(%w[1x1 1x2 1x8].map { |text| scenario(text, arrivals) })
      list = Advise::Advisor.new.call(app, sweep, sweeper:)
      assert_nil list.recommendation
      assert_equal :measure_first, list.advice.first.title.kind
      assert_match(/1x8 .*throughput -100% \(.*lock 0 and lock 1\)\.\z/, told(list.advice.first).evidence.first)
    end
  end

  test "without anything that was recorded there is nothing to be held against" do
    assert_nil sweep_of(varied_workload).self_check
  end

  test "locks whose waits are replayed are told where more threads waited longer" do
    check = sweep_of(lock_app, *lock_recordings).self_check
    assert_equal %w[1x8], check.off.map { |setting| setting.scenario.topology.to_s }
    told = sentences(check).first
    assert_match(/does not reproduce the recording at 1x8 with 10 connections: /, told)
    assert_match(/: \d+ requests\/s simulated, \d+ recorded \(\+\d+%\)/, told)
    assert_match(/Likely cause: waits for locks were replayed, not simulated; record with --locks /, told)
    assert_match(/--locks \(lock 6\.\d+ ms simulated, \d+\.\d ms recorded\)/, told)
    refute_predicate check, :trusted?
    assert_nil reproduced(check)
  end

  test "a station that says what they wait for is checked with the rest" do
    check = sweep_of(lock_app, *lock_recordings, stations: [Predict::Station.new(kind: "lock", servers_count: 1)]).self_check
    assert_empty sentences(check)
  end

  test "a request that computes longer at another setting is told as such, whatever follows from it" do
    check = sweep_of(varied_workload, *cpu_recordings).self_check
    setting = check.off.first
    assert_equal ["1x8", 1], [setting.scenario.topology.to_s, check.off.size]
    assert_equal :cpu, setting.cause.kind
    assert_operator setting.figure("cpu").error_ratio, :<, -0.05
  end

  test "an error beyond noise is in every interval of the sweep" do
    narrow, wide = sweep_of(varied_workload), sweep_of(varied_workload, *cpu_recordings)
    narrow.forecasts.zip(wide.forecasts) do |before, after|
      %i[throughput_per_s p50_ns p99_ns mean_ns].each do |name|
        assert_operator after.public_send(name).reach_ratio, :>, 2 * before.public_send(name).reach_ratio, name
      end
      assert_equal before.throughput_per_s.value, after.throughput_per_s.value
    end
    assert wide.at(topology("1x8")).throughput_per_s.covers?(cpu_recordings.last.throughput_per_s)
    refute narrow.at(topology("1x8")).throughput_per_s.covers?(cpu_recordings.last.throughput_per_s)
    four, one = %w[1x4 1x1].map { |text| wide.at(topology(text)) }
    assert_operator wide.ratio(four, one, :throughput_per_s).reach_ratio, :>, 2 * narrow.ratio(four, one, :throughput_per_s).reach_ratio
  end

  test "it is added to the model's usual error, as a variance of its own" do
    figure = Predict::CheckedFigure.new(metric: "throughput", recorded: 100.0, simulated: estimate(100 * Math.exp(0.3)), error_ratio: 0.35, beyond_noise: true)
    setting = Predict::CheckedSetting.new(scenario: scenario("1x5"), figures: [figure], cause: PumaTuner::Statement.of(:no_part))
    fine = setting.with(figures: [figure.with(beyond_noise: false)])
    check = Predict::SelfCheck.new(settings: [setting, fine])
    assert_in_delta 0.3, check.error_ratio("throughput")
    assert_equal 0.0, check.error_ratio("p99")
    usual = Predict::Uncertainty::MODEL_ERROR_RATIOS
    assert_in_delta Math.hypot(usual.fetch("throughput"), 0.3), Predict::Uncertainty.new(nil, check).error_ratio("throughput")
    assert_in_delta usual.fetch("throughput"), Predict::Uncertainty.new(nil, check.with(settings: [fine])).error_ratio("throughput")
    assert_in_delta usual.fetch("p99"), Predict::Uncertainty.new(nil, check).error_ratio("p99.9")
  end

  test "what chance explains in a short recording is no error" do
    short = (1..6).map { |seed| recording(varied_workload, "1x2", requests_count: 100, seed:) }
    check = sweep_of(varied_workload, *short, texts: %w[1x2]).self_check
    apart = check.settings.map { |setting| setting.figure("throughput").error_ratio.abs }.max
    assert_operator apart, :>, Predict::SelfChecker::FLOOR_RATIOS.fetch("throughput"), "these recordings would not need it"
    assert_empty check.off.flat_map(&:off).map(&:to_s)
  end

  test "what was recorded is held against the app as it was recorded, whatever is assumed of it" do
    recorded = [recording(varied_workload, "1x5")]
    as_recorded = [varied_workload.with(recorded:), machine(cores_count: 4)]
    assumed = sweep_of(varied_workload(cpu_factor: 3), *recorded, as_recorded:, what_if: ["cpu*3"])
    assert_empty assumed.self_check.off
    refute_empty sweep_of(varied_workload(cpu_factor: 3), *recorded).self_check.off
  end

  test "a recording that nobody loaded has no latencies to compare, and one without a budget no parts" do
    bare = recording(varied_workload, "1x5").with(p50_ns: nil, p99_ns: nil, budget: Probe::Budget.zero)
    assert_equal %w[throughput], sweep_of(varied_workload, bare, texts: []).self_check.settings.first.figures.map(&:metric)
  end

  test "a load that the server took and the model can't is an error, and no mere lack of a steady state" do
    served = recording(varied_workload, "1x5").with(arrivals: Model::Arrivals.open(400.0), throughput_per_s: 400.0, p50_ns: nil, p99_ns: nil)
    check = sweep_of(varied_workload.with(arrivals: served.arrivals), served, texts: []).self_check
    assert_operator check.settings.first.figure("throughput").error_ratio, :<, -0.1
    assert_equal :load_not_ours, check.settings.first.cause.kind
  end

  test "parts that are off where the whole is not are told as just that" do
    recorded = recording(varied_workload, "1x5")
    half_ns = recorded.budget.io_ns / 2
    same = recorded.with(budget: recorded.budget.with(io_ns: half_ns, sleep_ns: recorded.budget.io_ns - half_ns))
    check = sweep_of(varied_workload, same, texts: []).self_check
    told = sentences(check).first
    assert_match(/\AAt 1x5 with 10 connections the model reproduces throughput, p50, p99, but not where /, told)
    assert_match(/ but not where the time of a request goes: io 1\d\.\d ms simulated, \d\.\d+ ms recorded; sleep/, told)
    assert_equal 1, sentences(check).size, "no interval is wider"
    assert_predicate check, :trusted?
  end

  test "each part has a likely cause, demands before what follows from them" do
    figures = %w[queue gvl_wait preempted sleep io gc cpu lock].to_h do |metric|
      [metric, Predict::CheckedFigure.new(metric:, recorded: 1.0e6, simulated: estimate(3.0e6), error_ratio: 0.2, beyond_noise: true)]
    end
    short = recording(varied_workload, "1x1", requests_count: 100)
    of = ->(*metrics, watched: false) { Predict::LikelyCause.of(figures.values_at(*metrics), recorded: short, locks_watched: watched) }
    assert_equal %i[queue gvl_wait no_part sleep io gc cpu lock], figures.keys.map { |metric| of.call(metric).kind }
    assert_equal :cpu, of.call("queue", "gvl_wait", "cpu").kind
    assert_equal :lock_not_watched, of.call("lock", watched: true).kind
    assert_match(/unevenly.*\(queue 3\.00 ms simulated, 1\.00 ms recorded\)\z/, Report::SelfCheckWords.cause(of.call("queue")))
    whole = figures.fetch("cpu").with(metric: "throughput")
    assert_equal :no_part, Predict::LikelyCause.of([whole], recorded: nil, locks_watched: false).kind
    assert_nil Predict::LikelyCause.of([], recorded: nil, locks_watched: false)
  end

  test "of waits for IO the kind is named that more than half of the recorded ones were of" do
    off = Predict::CheckedFigure.new(metric: "io", recorded: 1.0e6, simulated: estimate(3.0e6), error_ratio: 0.2, beyond_noise: true)
    recorded = recording(varied_workload, "1x1", requests_count: 100)
    parts = [{file_ns: 60, db_ns: 40}, {file_ns: 40, db_ns: 60}, {file_ns: 40, db_ns: 40}, {file_ns: nil, db_ns: nil}].map do |parts_ns|
      told_apart = recorded.with(budget: recorded.budget.with(io_ns: 100, **parts_ns))
      Predict::LikelyCause.of([off], recorded: told_apart, locks_watched: false).facts["part"]
    end
    assert_equal ["file", "db", nil, nil], parts
  end

  test "beside others that used much of the machine, they are the likely cause of all that takes cores" do
    figures = %w[throughput queue gvl_wait gc cpu io lock].map do |metric|
      Predict::CheckedFigure.new(metric:, recorded: 1.0e6, simulated: estimate(3.0e6), error_ratio: 0.2, beyond_noise: true)
    end
    late = figures.find { |figure| figure.metric == "io" }.with(simulated: estimate(0.05e6))
    recorded = recording(varied_workload, "1x1", requests_count: 100)
    of = ->(figure, taken_ratio) { Predict::LikelyCause.of([figure], recorded:, locks_watched: false, taken_ratio:) }
    disturbed, quiet = [0.4, 0.1].map { |taken_ratio| [*figures, late].map { |figure| of.call(figure, taken_ratio) } }
    assert_equal %i[others others others others others io lock others], disturbed.map(&:kind)
    assert_equal %i[no_part queue gvl_wait gc cpu io lock io_late], quiet.map(&:kind)
    assert_match(/\Aothers used up to 40\.0% of the machine .*quiet \(cpu 3\.00 ms simulated, 1\.00 ms recorded\)\z/,
      Report::SelfCheckWords.cause(disturbed[4]))
    assert_match(/quiet\z/, Report::SelfCheckWords.cause(disturbed.first))
  end

  test "others count at whatever setting they were met" do
    met = recording(varied_workload, "1x5")
    missed = met.with(throughput_per_s: met.throughput_per_s * 2)
    disturbed, unknown = [0.4, nil].map do |taken_ratio|
      sweep_of(varied_workload, missed, met.with(taken_ratio:), texts: []).self_check.off.first.cause.kind
    end
    assert_equal :others, disturbed
    refute_equal :others, unknown
  end

  test "it outlives its file, and files without it can be read" do
    sweep = sweep_of(varied_workload, *cpu_recordings, texts: %w[1x1])
    text = Document.dump(sweep)
    assert_equal sweep, Document.parse(text, "sweep.json", [:sweep])
    old = JSON.parse(text).except("self_check")
    old["forecasts"].each { |forecast| forecast.delete("quantiles").then { forecast["gvl_wait_ns"] = 1.5 } }
    read = Document.parse(JSON.generate(old), "sweep.json", [:sweep])
    assert_nil read.self_check
    assert_equal [1.5, 1.5, 1.5], read.forecasts.first.gvl_wait_ns.then { |wait| [wait.value, wait.low, wait.high] }
  end
end
