# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require "support/command_line"

# `puma_tuner prove` as its user meets it: real servers, real load, short.
class ProveTest < TunerTest
  include CommandLine

  time_limit 400

  APP = File.expand_path("../fixtures/prove/config.ru", __dir__)
  SERVER = File.expand_path("../fixtures/prove/server.rb", __dir__)
  # Where no variant says otherwise, answers wait: a load that keeps all cores busy shows nothing more.
  ENVIRONMENT = {"PROVE_SLEEP_MS" => "10"}.freeze
  SHORT = %w[--duration 0.4 --warmup-window 0.15 --warmup-limit 0.5 --probe-duration 0.3 --noise-rounds 0 --connections 4 --busy-machine --output verdict.json].freeze

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    @abandoned_before = folders_of_the_dead
  end

  # Nothing keeps running, and nothing is left but what was asked for.
  def teardown
    assert_empty processes_in(File.dirname(APP)), "a server was left running"
    assert_empty folders_of_the_dead - @abandoned_before, "a folder was left"
    FileUtils.rm_rf(@folder)
  end

  # Temporary folders have their maker's process id in their name; other tests' commands may be running.
  def folders_of_the_dead
    Dir["/dev/shm/puma_tuner-run-*"].reject { |path| PumaTuner::Probe::Processes.alive?(path[/-(\d+)-\w+\z/, 1].to_i) }
  end

  def prove(*words, app: [APP], options: SHORT) = puma_tuner("prove", *app, *options, *words, folder: @folder, environment: ENVIRONMENT)

  def verdict = PumaTuner::Document.read(File.join(@folder, "verdict.json"), :verdict)

  # The machine may be busy while tests run; that is no matter here.
  def trials_of(name) = verdict.trials.select { |trial| trial.variant == name }

  test "when what decides could not be compared, it has not succeeded" do
    result = prove("--variant", "a:env.PROVE_SLEEP_MS=30", "--variant", "b:env.PROVE_SLEEP_MS=31", "--rounds", "1", "--primary", "p99")
    assert_equal 3, result.code, result.err
    assert verdict.complete
    refute verdict.compared?
  end

  test "variants by environment: measured, compared, explained" do
    result = prove("--variant", "quick:env.PROVE_SLEEP_MS=10", "--variant", "slow:env.PROVE_SLEEP_MS=30", "--rounds", "6",
      "--expect", "throughput worse", "--markdown", "summary.md", "--html", "page.html")
    assert_equal 0, result.code, result.err
    assert_equal [true], verdict.expectations.map(&:shown)
    comparison = verdict.comparison("slow", "throughput")
    assert_equal :worse, comparison.outcome
    by_round = %w[quick slow].map { |name| trials_of(name).to_h { |trial| [trial.round, trial.values.fetch("throughput")] } }.reduce { |quick, slow| slow.to_h { |round, per_s| [round, per_s / quick.fetch(round)] } }
    assert_includes Range.new(*by_round.values.minmax), comparison.ratio.value
    quick, slow = verdict.cells
    assert_operator slow.budget.sleep_ns - quick.budget.sleep_ns, :>, 4_000_000
    assert_equal({"env.PROVE_SLEEP_MS" => "30"}, slow.factors)
    assert_operator trials_of("slow").first.values.fetch("cpu_per_request"), :>, 0
    assert_operator trials_of("slow").first.values.fetch("allocations_per_request"), :>, 5
    assert_operator trials_of("slow").first.values.fetch("boot"), :>, 10_000_000
    assert_operator trials_of("slow").first.memory.size, :>=, 4
    assert_equal quick.fingerprint.keys, slow.fingerprint.keys
    assert_equal [[:env, "PROVE_SLEEP_MS"]], quick.fingerprint.keys.select { |key| quick.fingerprint[key] != slow.fingerprint[key] }
    assert_match(/worse/i, File.read(File.join(@folder, "summary.md")))
    assert_match(/<html/, File.read(File.join(@folder, "page.html")))
    assert_match(/worse/, result.out)
  end

  # A response takes 5 ms at least. A trial of a second has some 150 responses of 25 ms, and p97.5 takes 80.
  test "expectations decide the exit code, and any percentile is measured, told, and confirmed or refuted" do
    words = ["--variant", "slow:env.PROVE_SLEEP_MS=25", "--variant", "quick:env.PROVE_SLEEP_MS=5", "--rounds", "6", "--turns", "2",
      "--probe-duration", "0", "--duration", "1"]
    expected = ["throughput >= 1.5", "throughput >= 50", "97.5% < 2s", "quick: 97.5% < 4ms"]
    result = prove(*words, *expected.flat_map { |text| ["--expect", text] }, "--primary", "p95")
    assert_equal 1, result.code, result.err
    assert_match(/throughput >= 50/, result.out)
    assert_match(/^ *p97\.5 /, result.out)
    trials_of("quick").each do |trial|
      assert_equal trial.values.slice("p90", "p95", "p97.5").values.sort, trial.values.values_at("p90", "p95", "p97.5")
    end
    assert_equal ["p95", [true, false, true, false]], [verdict.primary, verdict.expectations.map(&:shown)]
    assert_match(/\Ap97\.5 was .* ms, and its 9\d% interval/, in_words(verdict.expectations.last.reason))
  end

  test "an undeclared difference is refused before any round" do
    # YJIT comes with the environment, and was declared as an environment only.
    result = prove("--variant", "one:", "--variant", "two:env.PROVE_YJIT_LATE=1", "--rounds", "6")
    assert_mistake(/differ in something undeclared.*yjit: off with one, on with two/m, result)
    refute_path_exists File.join(@folder, "verdict.json")
  end

  test "a difference without effect is refused" do
    assert_mistake(/yjit=off of b had no effect/, prove("--variant", "a:", "--variant", "b:yjit=off"))
  end

  test "a variant that redirects is refused before any round, by its name; responses that are all alike are remarked" do
    words = ["--variant", "a:", "--variant", "b:env.PROVE_STATUS=302", "--rounds", "6", "--bodies-may-differ"]
    assert_failed(/b: most responses are redirects to nowhere \(302\)/, prove(*words))
    refute_path_exists File.join(@folder, "verdict.json")
    assert_equal 0, prove("--variant", "a:", "--variant", "b:env.PROVE_SLEEP_MS=11", "--rounds", "1", "--path", "/a,/b,/c").code
    assert_includes verdict.cells.first.remarks.map { |remark| in_words(remark) }.join, "3 different paths are all answered with status 200"
  end

  test "another body is refused, unless it is meant" do
    words = ["--variant", "a:env.PROVE_BODY=short", "--variant", "b:env.PROVE_BODY=#{"long" * 100}", "--rounds", "1"]
    assert_failed(/responses to request 1 are of 5 bytes with a, and of 400 bytes with b.*--bodies-may-differ/m, prove(*words))
    assert_equal 0, prove(*words, "--bodies-may-differ").code
  end

  test "a variant that answers with an error is refused" do
    assert_failed(/puma_tuner: b: .*unexpected status \(500: \d+\)/m, prove("--variant", "a:", "--variant", "b:env.PROVE_STATUS=500"))
  end

  test "a variant that does not boot is named, with the end of its log" do
    assert_failed(/b: .*ended before it served.*PROVE_FAIL_BOOT is set/m, prove("--variant", "a:", "--variant", "b:env.PROVE_FAIL_BOOT=1", "--markdown", "summary.md"))
    summary = File.read(File.join(@folder, "summary.md"))
    assert_match(/nothing was measured\n\n> b: .*ended before it served/, summary)
    refute_match(/PROVE_FAIL_BOOT is set/, summary, "what the app prints is in no document")
  end

  test "a variant that goes away half way ends the proof, and what was measured stays" do
    # Enough for the first look, not for the round.
    result = prove("--variant", "a:env.PROVE_SLEEP_MS=5", "--variant", "b:env.PROVE_SLEEP_MS=5,env.PROVE_EXIT_AFTER=400", "--rounds", "6",
      options: [*SHORT, "--duration", "1"])
    assert_equal 3, result.code, result.err
    assert_match(/the proof ended early: 3 rounds in a row were void, the last because, with b, .*(went away|answered nothing|broke|ended|refused)/, result.err)
    assert_equal [["b", true, 3, 3]], verdict.failures.map { |failure| [failure.variant, failure.clearly_more, failure.attempts_count, failure.all_count] }
  end

  test "an interrupted proof goes on where it was" do
    words = ["--topologies", "1x1,1x2", "--rounds", "2"]
    out = File.join(@folder, "out")
    pid = start_puma_tuner("prove", APP, *SHORT, *words, environment: ENVIRONMENT, chdir: @folder, out:, err: out)
    rounds = File.join(@folder, "verdict.json.rounds")
    wait_until("the first round", limit_s: 60) { File.file?(rounds) && File.readlines(rounds).size >= 2 }
    Process.kill(:INT, pid)
    assert_equal 130, Process.wait2(pid).last.exitstatus
    assert_match(/saved in .*verdict.json.rounds; continue with: puma_tuner prove .*--resume/, File.read(out))
    first = File.readlines(rounds)[1]
    result = prove(*words, "--resume")
    assert_equal 0, result.code, result.err
    assert_equal PumaTuner::Prove::Trial.from_document(JSON.parse(first).first), verdict.trials.first
    assert_mistake(/started with another plan/, prove("--topologies", "1x1,1x3", "--rounds", "2", "--resume"))
  end

  test "another server, that is no Puma, is a variant like others" do
    result = prove("--variant", "puma:", "--variant", "plain:command=#{RbConfig.ruby} #{SERVER} {port}", "--rounds", "1")
    assert_equal 0, result.code, result.err
    plain = trials_of("plain").last
    assert_operator plain.values.fetch("throughput"), :>, 10
    assert_operator plain.values.fetch("allocations_per_request"), :>, 1
    assert_nil plain.budget
    assert_equal "ruby 3", plain.fingerprint.fetch([:ruby, nil])[0, 6]
  end

  test "on a machine with cores enough the generator has one to itself, or where it is asked for" do
    first, *others = PumaTuner::Probe::Processes.allowed_cores
    result = prove("--variant", "quick:env.PROVE_SLEEP_MS=10", "--variant", "slow:env.PROVE_SLEEP_MS=20", "--rounds", "1", "--core", first.to_s)
    return assert_mistake(/core #{first} is the only one available/, result) if others.empty?
    assert_equal 0, result.code, result.err
    assert_match(/on core #{first}\z/, verdict.load.generator)
    assert_equal [others.to_s], verdict.trials.map { |trial| cores_in(trial.fingerprint.fetch([:cores, nil])).to_s }.uniq
  end

  def cores_in(list)
    list.split(",").flat_map { |span| Range.new(*span.split("-").map(&:to_i).minmax).to_a }
  end

  test "several config.ru are variants by themselves" do
    copy = File.join(@folder, "other.ru")
    File.write(copy, "require #{File.join(File.dirname(APP), "work").dump}; run(->(_) { sleep(0.01); [200, {\"content-type\" => \"text/plain\"}, [\"fine\"]] })")
    result = prove("--rounds", "1", app: [APP, copy])
    assert_equal 0, result.code, result.err
    assert_equal [APP, copy], verdict.cells.map(&:variant)
  end

  test "two commits of an app are checked out, compared, and the repository is left alone" do
    repository = File.join(@folder, "app")
    Dir.mkdir(repository)
    git = ->(*words) { system("git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", *words, out: File::NULL, err: File::NULL) || flunk("git #{words}") }
    git.call("init", "-q")
    {"one" => 1, "two" => 60}.each do |tag, ms|
      File.write(File.join(repository, "config.ru"), "run(->(_) { sleep(#{ms / 1000.0}); [200, {\"content-type\" => \"text/plain\"}, [\"fine\"]] })")
      git.call("add", ".")
      git.call("commit", "-qm", tag)
      git.call("tag", tag)
    end
    before = Dir.glob("**/*", base: repository, flags: File::FNM_DOTMATCH).sort
    result = prove("--variant", "before:git=one", "--variant", "after:git=two", "--rounds", "1", app: [File.join(repository, "config.ru")])
    assert_equal 0, result.code, result.err
    before_p50_ns, after_p50_ns = %w[before after].map { |name| trials_of(name).last.values.fetch("p50") }
    assert_operator after_p50_ns, :>=, 59_000_000
    assert_operator before_p50_ns, :<, after_p50_ns
    assert_equal before, Dir.glob("**/*", base: repository, flags: File::FNM_DOTMATCH).sort
    missing = prove("--variant", "a:git=none", "--variant", "b:git=two", "--markdown", "summary.md", app: [File.join(repository, "config.ru")])
    assert_mistake(/git=none: there is no such commit in .*names a commit, branch or tag/, missing)
    assert_match(/\A### Proof: nothing was measured\n\n> git=none: there is no such commit/, File.read(File.join(@folder, "summary.md")))
  end

  MISTAKES = {
    %w[--variant a:] => /needs at least two variants/,
    %w[--variant a: --variant b:yjit=on --primary speed] => /--primary speed: choose one of throughput/,
    %w[--topologies 1x1,1x2 --expect fast] => /fast/,
    ["--topologies", "1x1,1x2", "--expect", "101% < 3ms"] => /"101% < 3ms" is not an expectation\. .*above 0 and below 100 of the requests/m,
    %w[--topologies 1x1,1x2 --primary p100] => /--primary p100: choose one of throughput, p50, .* and any other percentile, such as p97\.5/,
    %w[--topologies 1x1,1x2 --rate 0] => /--rate 0/,
    %w[--topologies 1x1,1x2 --rate 20 --primary p99 --duration 4] => /p99 takes 200 requests in each trial, and 20/,
    ["--topologies", "1x1,1x2", "--expect", "p99 <= 300"] => /"p99 <= 300" is about 300 times the baseline's/,
    %w[--variant a: --variant b:ruby=9.9.9] => /ruby=9.9.9: there is no such Ruby/,
    %w[--variant a: --variant b:preload=libnone.so] => /no such library/,
    %w[--variant a: --variant b:config=none.rb] => /no such file/,
    %w[--topologies 1x1,1x2 --resume] => /nothing to resume/
  }.freeze

  MISTAKES.each do |words, message|
    test "#{words.join(" ")} is a mistake" do
      assert_mistake(message, puma_tuner_in_fork("prove", APP, *SHORT, *words, folder: @folder, environment: ENVIRONMENT))
    end
  end
end
