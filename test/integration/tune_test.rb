# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"

# `puma_tuner tune` as its user meets it: whatever its proof does, what was measured, forecast and advised is told and kept.
class TuneTest < TunerTest
  include CommandLine

  time_limit 170

  SHORT = %w[--duration 1.5 --warmup 0.3 --trial-duration 0.3 --connections 4 --threads 1..3 --workers 1..2 --today 1x1 --path /sleep --no-calibrate
    --settings none --html report.html --output tuning.json].freeze

  # Serves as one process, and fails in a worker of a cluster.
  FAILS_IN_A_WORKER = <<~RUBY
    run lambda { |env|
      next [500, {"content-type" => "text/plain"}, ["no"]] if $PROGRAM_NAME.include?("cluster worker")
      sleep(0.01)
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  # What forecasts of other tests' apps have missed is no matter here.
  def environment(app) = {"XDG_STATE_HOME" => File.join(app.folder, "state")}

  def tune(app, *words) = puma_tuner("tune", "config.ru", *SHORT, *words, folder: app.folder, environment: environment(app))

  def tuning(app) = PumaTuner::Document.read(File.join(app.folder, "tuning.json"), :tuning)

  def title(app) = File.read(File.join(app.folder, "report.html"))[%r{<h1>(.*?)</h1>}m, 1]

  test "what is known is told before the proof begins, and called predicted; then the proof is" do
    ServedApp.open do |app|
      result = tune(app, "--rounds", "6")
      assert_equal 0, result.code, result.err
      before, after = result.err.split(/^prove …$/)
      ["Threads:", "Predicted: workers x threads", "Recommended", "In short: Predicted:", "report.html"].each { |text| assert_includes before, text }
      assert_match(/6 rounds of 2 variants \(about \d+ s left\)/, after)
      assert_includes result.out, "Proof: measured against today"
      assert_equal [true, nil], [tuning(app).verdict.complete, tuning(app).unproven]
      # A round that others disturbed runs again, at most two of six.
      assert_includes 6..8, tuning(app).verdict.rounds_count
      refute_match(/\A(Predicted: |$)/, title(app))
      assert_empty processes_in(app.folder)
    end
  end

  test "with cores that this machine has not, more workers are forecast, what is assumed is told, and nothing is proven" do
    ServedApp.open do |app|
      cores = PumaTuner::Probe::MachineFacts.read.cores_count + 1
      words = SHORT - %w[--workers 1..2]
      result = puma_tuner("tune", "config.ru", *words, "--cores", cores.to_s, "--rounds", "6", folder: app.folder, environment: environment(app))
      assert_equal 0, result.code, result.err
      assert_equal [nil, :other_machine], [tuning(app).verdict, tuning(app).unproven.cause]
      assert_equal [cores, ["cores=#{cores}"]], [tuning(app).sweep.forecasts.map { |one| one.topology.workers_count }.max, tuning(app).sweep.what_if]
      assert_match(/Assumed, and not measured: cores=#{cores}\./, result.out)
      assert_match(/Nothing: the advice is for a machine with other cores than this one/, result.unwrapped)
    end
  end

  # @return [PumaTuner::Advise::ProofRecord] by which 1x3 made the app worse under so many connections
  def remember(app, connections_count)
    words = {rule: "topology", lines: {"config/puma.rb" => "threads 3, 3"}, topology: "1x3", today: "1x1"}
    measured = PumaTuner::Advise::Measured.new(**words, **%i[topology today].to_h { |name| [name, PumaTuner::Topology.parse(words[name])] },
      metric: "throughput", ratio: PumaTuner::Stats::Estimate.new(value: 0.8, low: 0.7, high: 0.9, level_ratio: 0.95, samples_count: 12), predicted: nil,
      outcome: :worse, measured_at: "2026-01-02T03:04:05Z", arrivals: PumaTuner::Model::Arrivals.closed(connections_count))
    key = PumaTuner::Predict::TrackRecord.app_key(tuning(app).observation, tuning(app).observation.endpoints.map(&:name))
    PumaTuner::Advise::ProofRecord.new(File.join(app.folder, "state/puma_tuner/proofs.json")).tap { |record| record.add(key, [measured]) }
  end

  def forecast(app) = tuning(app).sweep.forecasts.map { |one| one.topology.to_s }.sort

  test "what earlier proofs showed to be worse is not forecast, until --forget; under another load it is" do
    ServedApp.open do |app|
      words = ["--rounds", "0", "--workers", "1"]
      tune(app, *words)
      assert_equal %w[1x1 1x2 1x3], forecast(app)
      assert_equal File.basename(app.folder), tuning(app).observation.folder
      record = remember(app, 4)
      tune(app, *words)
      assert_equal [%w[1x1 1x2], %w[1x3]], [forecast(app), tuning(app).advice_list.withheld.map { |one| one.topology.to_s }]
      result = tune(app, *words, "--forget")
      assert_equal %w[1x1 1x2 1x3], forecast(app)
      assert_match(/^puma_tuner: forgotten what proofs showed of 1 piece of advice for this app$/, result.err)
      assert_empty record.of(PumaTuner::Predict::TrackRecord.app_key(tuning(app).observation, %w[/sleep]))
      remember(app, 40)
      tune(app, *words)
      assert_equal [%w[1x1 1x2 1x3], []], [forecast(app), tuning(app).advice_list.withheld]
    end
  end

  test "other settings are recorded beside today's, and an interruption keeps those that there are" do
    ServedApp.open do |app|
      words = SHORT.join(" ").sub(" --settings none", "").split
      result = puma_tuner("tune", "config.ru", *words, "--rounds", "0", folder: app.folder, environment: environment(app))
      assert_equal 0, result.code, result.err
      assert_equal %w[2x1], tuning(app).observation.companions.map { |companion| companion.topology.to_s }
      assert_includes File.read(File.join(app.folder, "report.html")), "Recorded at 1x1, and briefly at 2x1"
      err = File.join(app.folder, "err.txt")
      pid = start_puma_tuner("tune", "config.ru", *words, "--today", "1x2", environment: environment(app), chdir: app.folder, out: File::NULL, err:)
      wait_until("the second of the others", limit_s: 60) { File.read(err).include?("2x2: the app serves") }
      Process.kill(:INT, pid)
      assert_equal 130, Process.wait2(pid).last.exitstatus, File.read(err)
      kept = PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/interrupted.json"), :observation)
      assert_equal ["1x2", %w[1x1]], [kept.topology.to_s, kept.companions.map { |companion| companion.topology.to_s }]
    end
  end

  test "what was recorded before something failed is kept, and can be gone on from" do
    ServedApp.open do |app|
      result = tune(app, "--rounds", "0", "--slo", "GET /slepp: 90% < 1s")
      assert_equal 2, result.code, result.err
      assert_match(/the recording has no endpoint "GET \/slepp"/, result.err)
      kept = PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/failed.json"), :observation)
      assert_equal ["1x1", true], [kept.topology.to_s, kept.requests_count > 40]
      assert_match(%r{`puma_tuner advise \S+/failed.json` goes on from it}, result.err)
      again = puma_tuner("advise", "tmp/puma_tuner/failed.json", "--threads", "1", "--workers", "1", folder: app.folder, environment: environment(app))
      assert_equal 0, again.code, again.err
    end
  end

  test "what a tune recorded is what `advise` goes on from, and how is told where anything is to be changed" do
    ServedApp.open do |app|
      result = tune(app, "--rounds", "0")
      assert_equal 0, result.code, result.err
      kept = PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/observation.json"), :observation)
      assert_equal tuning(app).observation.started_at, kept.started_at
      advised = puma_tuner("advise", "--diff", "--threads", "1..3", "--workers", "1..2", folder: app.folder, environment: environment(app))
      assert_equal 0, advised.code, advised.err
      list = tuning(app).advice_list
      changes = PumaTuner::CLI::Chosen.of(list, nil).any? { |advice| advice.topology != list.today }
      told = %r{`puma_tuner advise \S+/tmp/puma_tuner/observation\.json --diff` shows .*; give the same --threads, --workers there}
      assert_equal changes, told.match?(result.err), result.err
    end
  end

  test "a recommendation whose server fails is told as predicted, with the reason, and all else is kept" do
    ServedApp.open(rackup: FAILS_IN_A_WORKER) do |app|
      result = tune(app, "--rounds", "6", "--threads", "1")
      assert_equal 3, result.code, result.err
      assert_match(/nothing is proven: recommended: .*500/, result.err)
      refute_match(/--write writes/, result.err)
      assert_match(/Proven +Nothing: recommended: .*500/m, result.out)
      assert_includes result.out, "Recommended"
      assert_match(/\APredicted: Go from 1x1 to 2x1/, title(app))
      assert_nil tuning(app).verdict
      assert_operator tuning(app).observation.requests_count, :>, 40
    end
  end

  test "an interruption keeps what was found, and the rounds so far" do
    ServedApp.open do |app|
      err = File.join(app.folder, "err.txt")
      pid = start_puma_tuner("tune", "config.ru", *SHORT, "--rounds", "20", environment: environment(app), chdir: app.folder, out: File::NULL, err:)
      wait_until("the third round", limit_s: 120) { File.read(err).include?("round 3 of 20") }
      Process.kill(:INT, pid)
      assert_equal 130, Process.wait2(pid).last.exitstatus, File.read(err)
      assert_equal [false, 2, :interrupted], tuning(app).verdict.then { |verdict| [verdict.complete, verdict.rounds_count, verdict.stopped_because.kind] }
      # On a busy machine the self-check may be too far off for a recommendation, and several candidates are proven.
      assert_match(/\APredicted, and not shown: |\A\d variants measured against today/, title(app))
      assert_empty processes_in(app.folder)
    end
  end

  test "a time that is given is kept: what does not fit is cut, and said" do
    ServedApp.open do |app|
      # So many that they fit in no machine's half a minute, be it one candidate or several that are proven.
      began_s = monotonic_s
      result = tune(app, "--rounds", "200", "--time", "30s")
      assert_operator monotonic_s - began_s, :<, 30 * 1.3, result.err
      assert_operator tuning(app).verdict.rounds_count, :<, 200
      assert_match(/to fit into the time limit, (1 round was|\d+ rounds were) planned instead of 200/, result.err)
    end
  end

  test "answers that take half as long as a turn are no reason to give up" do
    ServedApp.open(rackup: "run(->(_) { sleep(0.15); [200, {}, [\"fine\"]] })") do |app|
      result = tune(app, "--rounds", "2", "--trial-duration", "0.3", "--duration", "2", "--threads", "2..3", "--today", "1x2", "--connections", "4")
      assert_equal 0, result.code, result.err
      assert_equal [true, 0], [tuning(app).verdict.complete, tuning(app).verdict.voided_count]
    end
  end
end
