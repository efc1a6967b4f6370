# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/command_line"
require "support/tuning_fixture"
require "tmpdir"

# `advise --diff`, `--write`, `--forget` and the mistakes of `--prove`, on a recording made by hand. That what is written
# counts in a server, and that advice is measured, is in integration/advise_proof_test.rb.
class AdviseCommandTest < TunerTest
  include Builders
  include CommandLine

  # As Rails writes it.
  PUMA_RB = <<~RUBY
    threads_count = ENV.fetch("RAILS_MAX_THREADS", 1)
    threads threads_count, threads_count
    port ENV.fetch("PORT", 3000)
  RUBY

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    FileUtils.mkdir_p([path("config"), path("tmp/puma_tuner")])
    File.write(path("config.ru"), "run ->(_) { [200, {}, []] }\n")
    File.write(path("config/puma.rb"), PUMA_RB)
    record
  end

  def teardown = FileUtils.rm_rf(@folder)

  def path(name) = File.join(@folder, name)

  # Requests that wait, served by one thread: more of them are better for sure.
  def record(at: Time.now.utc + 60, **fields)
    waiting = endpoint_observation(name: "GET /articles/:id", traces: [trace("held", 1, "io", 20, "held", 1)] * 60, requests_count: 450)
    load = load_summary.with(throughput_per_s: 45.0, mean_ns: 221 * MS, p50_ns: 221 * MS, p99_ns: 224 * MS)
    recorded = observation(endpoints: [waiting], topology: topology("1x1"), cores_count: 2, load:)
    Document.write(recorded.with(started_at: at.iso8601, **fields), path("tmp/puma_tuner/observation.json"))
  end

  QUICK = %w[--workers 1 --threads 1,4 --seeds 3 --simulated-requests 300].freeze

  def advise(*words)
    puma_tuner_in_fork("advise", "tmp/puma_tuner/observation.json", *QUICK, *words, folder: @folder,
      environment: {"PUMA_TUNER_CACHE" => path("cache/puma_tuner"), "XDG_STATE_HOME" => path("state")})
  end

  def done(*words)
    advise(*words).tap { |result| assert_equal 0, result.code, result.err }
  end

  def list = Document.read(path("tmp/puma_tuner/advice.json"), :advice_list)

  WRITTEN = PUMA_RB.sub("THREADS\", 1)", "THREADS\", 4)")

  test "--diff shows on standard output what --write then writes, and a second run has nothing left" do
    shown = done("--diff")
    assert_match(/\A--- a\/config\/puma\.rb\n\+\+\+ b\/config\/puma\.rb\n/, shown.out)
    assert_includes shown.out, "-threads_count = ENV.fetch(\"RAILS_MAX_THREADS\", 1)\n+threads_count = ENV.fetch(\"RAILS_MAX_THREADS\", 4)\n"
    assert_match(/RAILS_MAX_THREADS goes before the number/, shown.err)
    assert_equal PUMA_RB, File.read(path("config/puma.rb"))
    written = done("--write")
    assert_equal shown.out, written.out
    assert_equal WRITTEN, File.read(path("config/puma.rb"))
    undo = written.err[/To undo it: (.*)/, 1]
    again = done("--write")
    assert_equal "", again.out
    assert_match(/nothing is left to write/, again.err)
    assert system(undo, out: File::NULL), undo
    assert_equal PUMA_RB, File.read(path("config/puma.rb"))
  end

  test "where git has the file as it is, git undoes it" do
    assert system("git init -q . && git add -A && git -c user.name=t -c user.email=t@localhost commit -qm t", chdir: @folder)
    assert_match(/To undo it: git -C \S+ checkout -- config\/puma\.rb$/, done("--write").err)
  end

  test "a file that is younger than the recording is not written; one that we wrote is" do
    record(at: Time.now.utc - 60)
    assert_mistake(/config\/puma\.rb was changed .* after the recording .*: nothing is written\. Measure again/, advise("--write"))
    assert_equal PUMA_RB, File.read(path("config/puma.rb"))
    File.utime(Time.now - 120, Time.now - 120, path("config/puma.rb"))
    done("--write")
    File.write(path("tmp/puma_tuner/observation.json"), File.read(path("tmp/puma_tuner/observation.json")))
    assert_equal 0, advise("--write", "--threads", "1,5").code
  end

  test "what is written keeps its mode, and a link stays one" do
    FileUtils.mv(path("config/puma.rb"), path("config/real.rb"))
    File.chmod(0o640, path("config/real.rb"))
    File.symlink("real.rb", path("config/puma.rb"))
    done("--write")
    assert File.symlink?(path("config/puma.rb"))
    assert_equal [WRITTEN, 0o100640], [File.read(path("config/real.rb")), File.stat(path("config/real.rb")).mode]
  end

  test "an option that means nothing alone is told so" do
    assert_mistake(/--only chooses what --prove, --diff and --write take: add one of them/, advise("--only", "topology"))
    assert_mistake(/--only affinty: there is no such rule; did you mean affinity\?/, advise("--diff", "--only", "affinty"))
    assert_mistake(/--only gc: that rule has nothing to say of this recording; there is advice of topology/, advise("--diff", "--only", "gc"))
    assert_mistake(/--path is for the proof; add --prove/, advise("--path", "/"))
    assert_mistake(/neither a config\.ru nor a config\/puma\.rb in .*: name the app's folder with --directory/, advise("--diff", "--directory", "tmp"))
  end

  test "--prove says what it lacks: a recording, the app that was recorded, or its requests" do
    assert_mistake(/the recording is of `bundle exec puma`, and --prove would start `.*`: name the app's config\.ru, or give its command after `--`/, advise("--prove"))
    assert_mistake(/the recording keeps no addresses of GET \/articles\/:id: say with --path or --requests/, advise("--prove", "config.ru"))
    File.write(path("unreadable"), "{", perm: 0)
    assert_mistake(/unreadable is no rackup file|unreadable is not a document/, advise("--prove", "unreadable"))
    FileUtils.rm(path("config/puma.rb"))
    FileUtils.mkdir(path("config/puma.rb"))
    assert_mistake(%r{cannot read config/puma\.rb: Is a directory.*make it a file that may be read}, advise("--prove", "config.ru", "--path", "/"))
    FileUtils.rm(path("tmp/puma_tuner/observation.json"))
    result = puma_tuner("advise", "--prove", "config.ru", folder: @folder)
    assert_mistake(/there is no recording of this app to advise by .*: make one with `puma_tuner measure --load --path \/… config\.ru`/, result)
  end

  test "a result takes the place of no file that it is made of" do
    recorded = Document.read(path("tmp/puma_tuner/observation.json"), :observation)
    Document.write(TuningFixture.tuning(observation: recorded), path("tmp/puma_tuner/tuning.json"))
    written = File.read(path("tmp/puma_tuner/tuning.json"))
    result = puma_tuner("advise", "tmp/puma_tuner/tuning.json", "--prove", "config.ru", "--path", "/", folder: @folder)
    assert_mistake(%r{the result would take the place of tmp/puma_tuner/tuning\.json, which it is made of: give another --output}, result)
    assert_equal written, File.read(path("tmp/puma_tuner/tuning.json"))
  end

  # @return [Advise::Measured] of the recommendation, in this app's record
  def remember(outcome, **)
    done
    advised = list.recommendation
    ratio = Stats::Estimate.new(value: 0.9, low: 0.85, high: 0.95, level_ratio: 0.95, samples_count: 12)
    Advise::Measured.new(rule: advised.rule, lines: advised.lines, topology: advised.topology, today: topology("1x1"), metric: "throughput", ratio:,
      predicted: advised.throughput_ratio, outcome:, measured_at: "2026-01-02T03:04:05Z", **).tap do |measured|
      key = Predict::TrackRecord.app_key(observation, ["GET /articles/:id"])
      Advise::ProofRecord.new(path("state/puma_tuner/proofs.json")).add(key, [measured])
    end
  end

  test "what a proof showed to be worse is left out, until it is forgotten" do
    remember(:worse)
    text = done.unwrapped
    refute_equal topology("1x4"), list.recommendation.topology
    assert_match(/Left out, as it made this app worse .*--forget.* topology 1x4: measured on 2026-01-02 against 1x1: 0\.90x \(0\.85–0\.95\) requests\/s, worse/, text)
    assert_match(/forgotten what proofs showed of 1 piece of advice for/, done("--forget").err)
    assert_equal topology("1x4"), list.recommendation.topology
    assert_empty list.withheld
  end

  test "beside advice that brought less than it promised stands what was measured" do
    remember(:not_shown)
    text = done.unwrapped
    assert_equal topology("1x4"), list.recommendation.topology
    assert_match(/before measured on 2026-01-02 against 1x1: 0\.90x \(0\.85–0\.95\) requests\/s, no difference shown; predicted was/, text)
  end

  # The recording is of ten connections.
  test "what a proof showed to be worse under another load is told beside the advice, which stays; --at asks for another one, too" do
    remember(:worse, arrivals: Model::Arrivals.closed(30))
    text = done.unwrapped
    assert_match(/before measured on 2026-01-02 against 1x1, under a load of 30 connections: 0\.90x .* worse; .*; this advice is for another load/, text)
    assert_equal [topology("1x4"), []], [list.recommendation.topology, list.withheld]
    remember(:worse, arrivals: Model::Arrivals.closed(10))
    done
    assert_equal [topology("1x4")], list.withheld.map(&:topology)
    done("--at", "30/s")
    assert_empty list.withheld
  end
end
