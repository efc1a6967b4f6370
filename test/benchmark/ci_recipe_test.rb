# frozen_string_literal: true

require "test_helper"
require "json"
require "support/shop_repository"
require_relative "../../benchmark/ci_recipe"

# The recipe for CI in short, on a small shop: margins so wide that a busy machine does not matter. And its benchmark, without measuring.
class CiRecipeTest < TunerTest
  kind :integration

  time_limit 500

  SHORT = {"LOOKS" => "6", "MARGIN" => "50"}.freeze
  # One connection, as what is judged is the CPU that a request takes: beside three others a response takes four times as long, and a trial,
  # which must be long beside a response, too.
  WORDS = %w[--duration 0.5 --warmup-window 0.2 --warmup-limit 0.5 --connections 1 --busy-machine].freeze

  def setup = @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))

  def teardown = FileUtils.rm_rf(@folder)

  def shop = @shop ||= ShopRepository.new(File.join(@folder, "shop"))

  def proofs(**variables)
    CiRecipe::Proofs.new(shop.folder, path: "/articles", variables: SHORT.merge(variables.transform_keys(&:to_s)), words: WORDS,
      kept: File.join(@folder, "kept"), say: told.method(:push))
  end

  def told = @told ||= []

  test "a pull request that takes far more CPU fails, and its summary says by how much" do
    more = shop.more_work(3)
    tries(2) do
      said = proofs.then { |some| [some.call(more), some.summary, some.printed] }
      assert_equal 1, said.first.code, said.last
      assert said.first.regression?
      assert_operator said.first.ratio.value, :>, 2
      assert_match(/cpu\\_per\\_request not worse is not shown/, said[1])
      assert_match(/\| CPU per request \(primary\) \|.*worse \|/, said[1])
      kept = Dir[File.join(@folder, "kept/*-#{said.first.commit[0, 8]}-*.{md,json}")]
      assert_includes kept.map { |path| File.read(path) }, said[1], "what it said can be looked into"
    end
  end

  test "one that changes the Gemfile passes, though the gems differ" do
    other = shop.change("Gemfile", "gem \"rack\"", "gem \"base64\", require: false\ngem \"rack\"", branch: "base64")
    tries(2) do
      some = proofs
      assert_equal 0, some.call(other).code, some.printed
      assert_match(/not worse is shown/, some.summary)
    end
    assert_equal "base64", `git -C #{shop.folder} rev-parse --abbrev-ref HEAD`.strip
  end

  test "where nothing can be told, it is no regression, it is tried once more, and the summary says why" do
    readme = shop.change("README.md", "A list", "The list", branch: "readme")
    missing = proofs(BASE: "origin/main").then { |some| [some.call(readme), some.summary] }
    assert_equal [2, 2, true, false], [missing.first.code, missing.first.attempts_count, missing.first.open?, missing.first.regression?]
    assert_match(/nothing was measured, so it is tried once more/, told.join("\n"))
    assert_match(/nothing was measured\n\n> git=origin\/main: there is no such commit .* git fetch origin main/, missing.last)
    unchanged = proofs.then { |some| [some.call(readme.with(head: "main")).code, some.summary] }
    assert_equal [0, "there is no change since main\n"], unchanged
  end

  test "a base that does not boot is named, in the terminal with its output and in the summary without" do
    works = ShopRepository::SOURCES.fetch("config.ru")
    shop.change("config.ru", works, "raise \"a s3cret\"\n")
    mended = shop.change("config.ru", "raise \"a s3cret\"\n", works, branch: "mended")
    some = proofs
    assert_equal 3, some.call(mended).code, some.printed
    assert_match(/s3cret/, some.printed)
    assert_match(/nothing was measured\n\n> base: .*ended before it served/, some.summary)
    refute_match(/s3cret/, some.summary)
  end

  test "the first of the recipe's looks has as many rounds as an interval of its level needs" do
    script = File.read(CiRecipe::Code.new.script)
    looks = PumaTuner::Prove::Looks.stepwise(script[/LOOKS:-([\d,]+)/, 1].split(",").map(&:to_i))
    assert_operator looks.least_rounds_count, :<=, looks.rounds_counts.first
    assert_equal 7, looks.least_rounds_count
    assert_includes script, "LOOKS     rounds after which it may be decided (#{looks.rounds_counts.join(",")})"
  end

  # A history of four commits: the app, one beside it, one of the app's files, one beside it.
  def repository
    folder = File.join(@folder, "project")
    app = File.join(folder, CiRecipe::History::APP)
    FileUtils.mkdir_p(app)
    git(folder, "init", "--quiet", "--initial-branch=main")
    {"#{app}/work.rb" => "def burn(units) = (units * STEPS_PER_UNIT).times { 1 }\n", "#{folder}/README.md" => "a\n", "#{app}/app.rb" => "1\n", "#{app}/README.md" => "b\n"}.each do |path, text|
      File.write(path, text)
      git(folder, "add", ".")
      git(folder, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "one")
    end
    folder
  end

  def git(folder, *words) = Open3.capture2e("git", "-C", folder, *words).then { |output, status| status.success? ? output.strip : flunk(output) }

  test "commits that leave the served app alone are the harmless ones, and the same ones with more steps the regressions" do
    project = repository
    history = CiRecipe::History.new(File.join(@folder, "copy"), count: 2, project:)
    last, _, second = git(project, "rev-list", "HEAD").lines(chomp: true)
    assert_equal [["harmless", "#{last}^1", last], ["harmless", "#{second}^1", second]], history.harmless.map(&:deconstruct)
    planted = history.planted(0.05004)
    assert_equal history.harmless.map(&:base), planted.map(&:base)
    planted.zip(history.harmless).each do |one, harmless|
      assert_equal harmless.head, git(history.folder, "rev-parse", "#{one.head}^1")
      assert_includes git(history.folder, "show", "#{one.head}:#{CiRecipe::History::METHOD_FILE}"), "(units * STEPS_PER_UNIT * 10501 / 10000).times"
    end
    assert_equal "main", git(project, "rev-parse", "--abbrev-ref", "HEAD"), "the checkout stays as it is"
    too_many = assert_raises(PumaTuner::UsageError) { CiRecipe::History.new(File.join(@folder, "more"), count: 3, project:) }
    assert_match(/has 2 commits .* and 3 are needed/, too_many.message)
  end

  test "a shallow clone says what to do" do
    git(@folder, "clone", "--quiet", "--depth=1", "file://#{repository}", File.join(@folder, "shallow"))
    error = assert_raises(PumaTuner::UsageError) { CiRecipe::History.new(File.join(@folder, "copy"), count: 2, project: File.join(@folder, "shallow")) }
    assert_match(/a shallow clone.*git fetch --unshallow.*fetch-depth: 0/, error.message)
  end

  test "the app of this project has the steps that a regression is planted in" do
    assert_includes File.read(File.join(Bench::PROJECT, CiRecipe::History::METHOD_FILE)), CiRecipe::History::STEPS
  end

  def said(kind, code, value = 1.0, attempts_count: 1)
    CiRecipe::Said.new(kind:, commit: "4ffeb6d0aa", code:, ratio: estimate(value), rounds_count: 8, seconds: 120.0, attempts_count:,
      at: 1_795_000_000)
  end

  def estimate(value) = PumaTuner::Stats::Estimate.new(value:, low: value - 0.02, high: value + 0.02, level_ratio: 0.983, samples_count: 10)

  def begin_run(journal, commit: "commit `4ffeb6d`")
    machine = PumaTuner::Probe::MachineFacts.read
    journal.add("kind" => "run", "layout" => CiRecipe::Journal::LAYOUT, "commit" => commit,
      "machine" => machine.to_document.transform_keys(&:to_s))
    machine
  end

  test "what was said is kept, and a run goes on from it; where nothing was measured it tries again" do
    path = File.join(@folder, "tmp/journal.jsonl")
    journal = CiRecipe::Journal.new(path)
    assert_nil journal.run
    begin_run(journal)
    journal.add(said("harmless", 0).fields)
    journal.add(said("harmless", 137, attempts_count: 2).with(ratio: nil, rounds_count: nil, commit: "other").fields)
    File.write(path, '{"kind": "regr', mode: "a")
    assert_match(/another run writes/, assert_raises(PumaTuner::UsageError) { CiRecipe::Journal.new(path) }.message)
    journal.close
    again = CiRecipe::Journal.new(path)
    again.add(said("regression", 1).with(commit: "third").fields)
    again.close
    last = CiRecipe::Journal.new(path)
    asked = [%w[harmless 4ffeb6d0aa], %w[harmless other], %w[regression 4ffeb6d0aa]]
    assert_equal [said("harmless", 0), nil, nil], asked.map { |kind, commit| last.said(kind, commit) }
    assert last.said("regression", "third"), "what was cut short is no part of the next line"
    assert_equal 2, last.void_count
    last.close
    fresh = CiRecipe::Journal.new(path, fresh: true)
    assert_nil fresh.run
    fresh.close
    assert_equal 2, Dir["#{path}*"].size, "what was said before is not lost"
    File.write(path, JSON.generate("kind" => "run", "layout" => 0))
    assert_match(/--fresh begins anew/, assert_raises(PumaTuner::UsageError) { CiRecipe::Journal.new(path) }.message)
  end

  test "a machine of another kind does not go on with it" do
    journal = CiRecipe::Journal.new(File.join(@folder, "journal.jsonl"))
    machine = begin_run(journal)
    assert_nil journal.ensure_same(machine)
    error = assert_raises(PumaTuner::UsageError) { journal.ensure_same(machine.with(cores_count: 99)) }
    assert_match(/another machine: .*, and this is .*99\]/, error.message)
  end

  # @return [CiRecipe::Page]
  def run_suite(project)
    options = CiRecipe::Options.parse(["--quick", "--journal", File.join(@folder, "runs/j.jsonl")])
    journal = CiRecipe::Journal.new(options.journal_path)
    yield journal if block_given?
    CiRecipe::Suite.new(options, PumaTuner::Probe::MachineFacts.read, journal:, project:, say: told.method(:push)).run
  ensure
    journal&.close
  end

  def recipe(project, says)
    CiRecipe::Code::PARTS.each { |part| FileUtils.mkdir_p(File.join(project, part)) }
    File.write(File.join(project, CiRecipe::Code::SCRIPT), "echo #{says}; exit 3\n")
  end

  test "a run goes on with the code that it began with, whatever the checkout has become, and comes to a page" do
    project = repository
    recipe(project, 'before "$@"')
    assert_match(%r{could not measure.*before config\.ru --path /realistic --connections 5 --seed}m, assert_raises(PumaTuner::MeasurementFailed) { run_suite(project) }.message)
    recipe(project, "after")
    assert_match(/could not measure.*before/m, assert_raises(PumaTuner::MeasurementFailed) { run_suite(project) }.message)
    path = File.join(@folder, "runs/j.jsonl")
    File.write(path, File.read(path).sub(Bench::Provenance::COMMIT) { "commit `4ffeb6d`" })
    last, _, second = git(project, "rev-list", "HEAD").lines(chomp: true)
    done = run_suite(project) do |journal|
      journal.add(said("share", 1, 1.95).with(commit: last).fields)
      [last, second].product([said("regression", 1, 1.05), said("harmless", 0)]) do |commit, one|
        journal.add(one.with(commit:).fields)
      end
    end
    assert_equal %i[met met], done.outcomes
    assert_match(/^Made with commit `4ffeb6d` on /, done.to_s)
    assert_includes told, "this goes on with the code of commit `4ffeb6d`, which was set aside"
    FileUtils.rm_rf(File.join(@folder, "runs/j.code"))
    assert_match(/no longer in .*--fresh/, assert_raises(PumaTuner::UsageError) { run_suite(project) }.message)
  end

  test "a range of few rounds shows no regression, and what a signal has ended has not passed" do
    few = said("regression", 1, 1.05)
    assert few.regression?
    refute few.with(ratio: few.ratio.with(level_ratio: nil)).regression?
    refute said("harmless", 137).passed?
  end

  def page(planted, harmless, **)
    CiRecipe::Page.new(machine: PumaTuner::Probe::MachineFacts.read, commit: "commit `4ffeb6d`", share: estimate(1.95),
      planted:, harmless:, **)
  end

  def regressions(found, passed: 0, open: 0) = [*[said("regression", 1, 1.05)] * found, *[said("regression", 0, 1.03)] * passed, *[said("regression", 1, 1.01)] * open]

  def harmless(passed, called: 0, open: 0) = [*[said("harmless", 0)] * passed, *[said("harmless", 1, 1.04)] * called, *[said("harmless", 1, 1.01)] * open]

  test "the page holds both counts against what is promised, and tells what noise left open apart" do
    good = page(regressions(19, passed: 1), harmless(20))
    assert_equal %i[met met], good.outcomes
    assert_match(/found in 19 of 20 proofs; 0 of 20 harmless pull requests were called one, and 20 passed\.\*\* A proof took/, good.to_s)
    assert_match(/ A proof took .* the last at 20\d\d-/, good.to_s)
    assert_match(/\| 5% more CPU \(by the share's interval 4\.9–5\.1%\) \| +20 \| +19 \| +0 \| +1\.050x \(1\.030x–1\.050x\)/, good.to_s)
    assert_equal %i[missed missed], page(regressions(18, passed: 2), harmless(19, called: 1)).outcomes
    assert_equal %i[not_shown not_shown], page(regressions(18, passed: 1, open: 1), harmless(19, open: 1)).outcomes
    assert_match(/Of 2 noise left it open/, page(regressions(19, open: 1), harmless(19, open: 1)).results)
    again = page(regressions(20), [*harmless(19), said("harmless", 0, attempts_count: 2)], void_count: 1)
    assert_match(/1 attempt ended without a judgement.*\| 0 \(second attempt\) \|/m, again.results)
  end

  test "the page says how often the regression may be passed" do
    text = page(regressions(20), harmless(20)).to_s
    assert_match(/passes a regression of just 5% with a\s+probability of 2\.5% at most.*1 of 20 at most is passed in 91% of such runs/m, text)
    assert_match(/called a regression with\s+a probability of 2\.5% at most, and at least one of 20 in 40% of runs at most/, text)
    assert_in_delta 0.9118, CiRecipe::Page.found_ratio, 0.0001
    assert_in_delta 0.975**20, CiRecipe::Page.found_ratio(20, 20), 1e-12
  end

  test "a journal may lie elsewhere" do
    assert_equal "/somewhere/j.jsonl", CiRecipe::Options.parse(%w[--journal /somewhere/j.jsonl]).journal_path
  end

  test "a quick run is not worth the page" do
    assert_raises(OptionParser::InvalidArgument) { CiRecipe::Options.parse(%w[--quick --write]) }
    assert_raises(OptionParser::InvalidArgument) { CiRecipe::Options.parse(%w[--proofs 5 --write]) }
    assert_equal 20, CiRecipe::Options.parse(%w[--write]).count
    refute_equal CiRecipe::Options.parse(%w[--quick]).journal_path, CiRecipe::Options.parse([]).journal_path
  end
end
