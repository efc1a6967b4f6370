# frozen_string_literal: true

# Does the recipe for CI find a regression of 5% of CPU per request, and leave harmless pull requests alone? By the script that docs/guides/ci.md has, on commits of
# this project's own history: twenty proofs of commits that leave the served app alone, twenty of the same ones with a planted regression on top.
#
#   bin/exec rake ci_recipe                     (an hour to three, the longer the noisier the machine)
#   bin/exec rake ci_recipe OPTIONS=--quick     (a few proofs of six rounds, to see whether it works)
#
# Both go on where they were interrupted, with the code that they began with.
# Ends with status 1 when fewer than 19 are found, or a harmless one is called a regression; with 3 when noise left that open.

require_relative "support/bench"
require_relative "ci_recipe/proofs"

module CiRecipe
  PROOFS_COUNT = 20
  FOUND_LEAST = 19
  PLANTED_RATIO = 0.05

  # At most so often a regression of just the margin is passed, whatever the noise: the lower half of what the looks share among them.
  PASSING_RATIO = PumaTuner::Prove::Looks::ERROR_RATIO / 2

  # As the guide has it: as many as the app's server has threads, so that nothing queues.
  WORDS = %w[--connections 5].freeze

  # To learn which share of a request's CPU the app's steps take, they are made once more. Where pairs of trials scatter by
  # 3.5%, as in six rounds of --quick, sixteen rounds leave 5% ± 0.2%, and as many again, for five minutes more,
  # 5% ± 0.13%: either is little beside what a proof leaves open.
  SHARE = "share"
  SHARE_LOOKS = "16"

  Options = Bench::Options.define("ci_recipe", page: "docs/measured/ci_recipe.md",
    needs: "all #{PROOFS_COUNT} proofs of each kind", proofs_count: PROOFS_COUNT, quick: Bench::Options::QUICK, fresh: false,
    journal: nil) do |parser, given|
    parser.on("--proofs N", Integer, "of each kind (default: #{PROOFS_COUNT})") { |count| given[:proofs_count] = positive(count) }
    parser.on("--fresh", "begin anew; without it, what has been proven before is not proven again") { given[:fresh] = true }
    parser.on("--journal FILE", "where what was said is kept (default: in tmp/ci_recipe)") do |path|
      given[:journal] = File.expand_path(path)
    end
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = super && proofs_count >= PROOFS_COUNT

    # @return [Integer] of each kind
    def count = quick ? 2 : proofs_count

    # @return [Hash{String => String}] of the script
    def variables = quick ? {"LOOKS" => "6"} : {}

    # @return [String] where what is said is kept; other numbers of proofs are of other commits
    def journal_path = journal || File.join(Journal::FOLDER, quick ? "quick.jsonl" : "#{count}.jsonl")

    # @return [String] where the code that is proven with lies, beside it
    def code_folder = "#{journal_path.delete_suffix(".jsonl")}.code"
  end

  # A whole run: proves what is missing, and judges.
  class Suite
    # @param options [Options]
    # @param machine [PumaTuner::Probe::MachineFacts] before it
    # @param journal [Journal]
    # @param project [String] a checkout: whose history and whose code
    # @param say [#call]
    def initialize(options, machine, journal: Journal.new(options.journal_path, fresh: options.fresh), project: Bench::PROJECT,
      say: ->(text) { warn "ci_recipe: #{text}" })
      @options = options
      @machine = machine
      @journal = journal
      @project = project
      @code = Code.new(options.code_folder)
      @say = say
    end

    # @return [Page]
    def run
      @journal.run ? go_on : begin_run
      Dir.mktmpdir("puma_tuner-ci") do |folder|
        history = History.new(File.join(File.realpath(folder), "history"), count: @options.count, project: @project,
          commit: @journal.run.fetch("history_end"))
        proofs = Proofs.new(history.folder, path: History::PATH, variables: @options.variables, words: WORDS, code: @code,
          kept: File.dirname(@options.journal_path), say: @say)
        prove(history, proofs)
      end
    rescue Interrupt
      @say.call("what was said is kept in #{@options.journal_path}; the same command goes on from there#{", without --fresh" if @options.fresh}")
      raise
    end

    private

    # Whatever the checkout has become meanwhile.
    def go_on
      @journal.ensure_same(@machine)
      @code.ensure_there
      commit = @journal.run.fetch("commit")
      @say.call("this goes on with the code of #{commit}, which was set aside") unless commit == Bench::Provenance::COMMIT
    end

    # The line comes last: without it, what was set aside is no run's.
    def begin_run
      @code.set_aside(@project)
      head, = Open3.capture2("git", "-C", @project, "rev-parse", "HEAD")
      @journal.add("kind" => "run", "layout" => Journal::LAYOUT, "commit" => Bench::Provenance::COMMIT, "history_end" => head.strip, "at" => Time.now.to_i,
        "machine" => @machine.to_document.transform_keys(&:to_s))
    end

    # Both kinds take turns, so that what disturbs the machine meets each of them.
    def prove(history, proofs)
      share = share(history, proofs)
      pairs = history.harmless.zip(history.planted(PLANTED_RATIO / (share.ratio.value - 1)))
      said = pairs.each_with_index.map do |(harmless, planted), place|
        [planted, harmless].each_with_index.map do |one, which|
          known(one.kind, harmless.head) { |commit| proofs.call(one, commit:, seed: 2 * place + which + 1) }
        end
      end
      page(share, *said.transpose)
    end

    # @return [Said] of the steps made twice
    def share(history, proofs)
      variables = @options.quick ? {} : {"LOOKS" => SHARE_LOOKS}
      said = known(SHARE, history.harmless.first.head) do |commit|
        proofs.call(history.planted(1.0).first.with(kind: SHARE), commit:, variables:)
      end
      return said if said.measured? && said.ratio
      raise PumaTuner::MeasurementFailed, "the recipe could not measure what is planted: #{proofs.last_printed}"
    end

    def known(kind, commit) = @journal.said(kind, commit) || yield(commit).tap { |said| @journal.add(said.fields) }

    # With the machine and the commit of when it was begun.
    def page(share, planted, harmless)
      run = @journal.run
      machine = PumaTuner::Probe::MachineFacts.from_document(run.fetch("machine"))
      Page.new(machine:, at: Time.at(run.fetch("at")), commit: run.fetch("commit"), share: share.ratio, planted:, harmless:,
        void_count: @journal.void_count)
    end
  end

  # docs/measured/ci_recipe.md
  class Page < Bench::Page
    # @param share [PumaTuner::Stats::Estimate] CPU of a request whose steps are made twice, over that of one
    # @param planted [Array<Said>]
    # @param harmless [Array<Said>]
    # @param void_count [Integer] how often nothing was measured
    def initialize(share:, planted:, harmless:, void_count: 0, **)
      super(**)
      @void_count = void_count
      @share = share
      @planted = planted
      @harmless = harmless
    end

    # A proof that fails without showing that a request takes more is neither found nor a false alarm, and no success: a third outcome.
    #
    # @return [Array<Symbol>] of the regression, and of harmless pull requests
    def outcomes
      least_count = (@planted.size * FOUND_LEAST / PROOFS_COUNT.to_f).floor
      [met(found.size >= least_count, @planted.count(&:passed?) <= @planted.size - least_count), met(@harmless.all?(&:passed?), alarms.empty?)]
    end

    # @return [String]
    def results = paragraphs(facts, outcome, table, by_commit)

    # @return [String] the whole page
    def to_s = paragraphs(INTRO, results, METHOD)

    # @param proofs_count [Integer]
    # @param least_count [Integer]
    # @return [Float] how often all but so many of so many regressions at most are passed, where each is as often as it may be
    def self.found_ratio(proofs_count = PROOFS_COUNT, least_count = FOUND_LEAST)
      (0..proofs_count - least_count).sum { |count| (proofs_count - count + 1..proofs_count).reduce(1, :*) / (1..count).reduce(1, :*) * PASSING_RATIO**count * (1 - PASSING_RATIO)**(proofs_count - count) }
    end

    INTRO = <<~TEXT
      # Does CI find a regression of 5%?

      Written by `benchmark/ci_recipe.rb`; not to be edited. To repeat it: `bin/exec rake ci_recipe`, which takes the longer the noisier the machine, and goes on where it was
      interrupted (`OPTIONS=--quick`: a short form; `OPTIONS=--write` writes this page; `OPTIONS=--fresh` begins anew).
    TEXT

    METHOD = <<~TEXT
      ## How it is measured

      The pull requests are commits of this project's own history, spread evenly over it, each against its first parent. The app is the demo's (`#{History::APP}`), asked for
      `#{History::PATH}` by as many connections as its server has threads (`#{WORDS.join(" ")}`). Commits that leave its Ruby files and the Gemfile alone are harmless; the
      regression is planted on top of the same commits, in the method that all of a request's computing is in. The recipe is `ops/ci/prove_pull_request.sh` as it
      stands ([the guide](../guides/ci.md)), run as a CI does: with the pull request checked out. Both kinds take turns, each proof with a seed of its own. Where it
      ended without a judgement (too busy a machine, or no time left) it is tried again, and it is said how often.

      How much is planted: first the method's steps are made twice, which tells the share of a request's CPU that they take. So many steps are then made once more that
      a request takes #{(PLANTED_RATIO * 100).round}% more, rounded up by less than 0.01%.

      The recipe judges by CPU per request, and asks whether it is shown that a request takes less than 5% more. So each proof passes a regression of just 5% with a
      probability of #{(PASSING_RATIO * 100).round(1)}% at most, whatever the noise; where that is reached,
      #{PROOFS_COUNT - FOUND_LEAST} of #{PROOFS_COUNT} at most is passed in #{(found_ratio * 100).round}% of such runs. Likewise each harmless one is called a regression with
      a probability of #{(PASSING_RATIO * 100).round(1)}% at most, and at least one of #{PROOFS_COUNT} in #{((1 - (1 - PASSING_RATIO)**PROOFS_COUNT) * 100).round}% of runs at most.

      What noise costs are rounds: it looks several times. Where the last look does not suffice the recipe fails as well, as nothing is shown then.
      That is told apart here: a regression is found, or a harmless commit called one, where the whole interval lies above 1; else the noise left it open.
    TEXT
    private_constant :INTRO, :METHOD

    private

    def met(sure, possible)
      return :met if sure
      possible ? :not_shown : :missed
    end

    def found = @planted.select(&:regression?)

    def alarms = @harmless.select(&:regression?)

    def outcome
      open_count = (@planted + @harmless).count(&:open?)
      "**The regression was found in #{found.size} of #{@planted.size} proofs; #{alarms.size} of #{@harmless.size} harmless " \
        "pull requests were called one, and #{@harmless.count(&:passed?)} passed.** " \
        "#{"Of #{open_count} noise left it open. " if open_count.positive?}" \
        "#{"#{PumaTuner::Units.counted(@void_count, "attempt")} ended without a judgement. " if @void_count.positive?}" \
        "A proof took #{minutes(@planted + @harmless)} (median); the first ended at #{time(:min)}, the last at #{time(:max)}."
    end

    def time(which) = Time.at((@planted + @harmless).map(&:at).public_send(which)).utc.strftime("%F %H:%M")

    def minutes(said) = "#{(Bench.median(said.map(&:seconds)) / 60.0).round(1)} min"

    # What the interval of the share makes of the planted ratio.
    def planted_percent = [@share.high, @share.value, @share.low].map { |twice| PLANTED_RATIO * 100 * (twice - 1) / (@share.value - 1) }.minmax.map { |percent| percent.round(1) }.join("–")

    def table
      rows = {"#{(PLANTED_RATIO * 100).round}% more CPU (by the share's interval #{planted_percent}%)" => @planted, "harmless" => @harmless}.map do |title, all|
        ratios = all.filter_map(&:ratio).map(&:value)
        [title, all.size.to_s, all.count(&:regression?).to_s, all.count(&:open?).to_s, ratios.empty? ? "-" : "#{times(Bench.median(ratios))} (#{ratios.minmax.map { |one| times(one) }.join("–")})",
          Bench.median(all.map(&:rounds_count))&.round.to_s, minutes(all), "#{(all.map(&:seconds).max / 60.0).round(1)} min"]
      end
      Bench::Markdown.table(["pull request", "proofs", "a regression", "left open", "CPU per request, median (range)", "rounds, median", "took, median", "at most"], rows)
    end

    def by_commit
      rows = (@planted + @harmless).map do |said|
        [said.kind, said.commit[0, 8], "#{said.code}#{" (second attempt)" if said.attempts_count > 1}", said.ratio ? "#{times(said.ratio.value)} (#{times(said.ratio.low)}–#{times(said.ratio.high)})" : "-",
          said.rounds_count.to_s, said.seconds.round.to_s]
      end
      ["Each of them:", Bench::Markdown.table(["pull request", "commit", "exit code", "CPU per request", "rounds", "seconds"], rows, left_count: 2)]
    end

    def times(ratio) = format("%.3fx", ratio)
  end
end

Bench.program(__FILE__, CiRecipe::Options) { |options, machine| CiRecipe::Suite.new(options, machine).run }
