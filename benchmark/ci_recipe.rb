# frozen_string_literal: true

# Does the recipe for CI find a regression of 5% of CPU per request, and leave harmless pull requests alone? On a repository that is made for it, by the script
# that docs/guides/ci.md has: twenty proofs of the one, twenty of the others. `rake ci_recipe`. Ends with status 1 when it finds fewer than 19, or calls one.

require_relative "support/bench"
require_relative "ci_recipe/proofs"

module CiRecipe
  PROOFS_COUNT = 20
  FOUND_LEAST = 19
  PLANTED_RATIO = 0.05

  Options = Bench::Options.define("ci_recipe", page: "docs/measured/ci_recipe.md", needs: "all #{PROOFS_COUNT} proofs of each kind", proofs_count: PROOFS_COUNT, quick: Bench::Options::QUICK) do |parser, given|
    parser.on("--proofs N", Integer, "of each kind (default: #{PROOFS_COUNT})") { |count| given[:proofs_count] = positive(count) }
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = super && proofs_count >= PROOFS_COUNT

    # @return [Integer] of each kind
    def count = quick ? 2 : proofs_count

    # @return [Hash{String => String}] of the script
    def variables = quick ? {"LOOKS" => "6"} : {}
  end

  # @param options [Options]
  # @param say [#call]
  # @return [Array(Integer, Array<Said>, Array<Said>)] rows that were planted; of the regression; of harmless pull requests
  def self.run(options, say:)
    Dir.mktmpdir("puma_tuner-ci") do |folder|
      history = History.new(File.join(File.realpath(folder), "shop"))
      proofs = Proofs.new(history, variables: options.variables, say:)
      rows_count = (PLANTED_RATIO / proofs.rows_share * History::ROWS).ceil
      history.plant(History::REGRESSION, rows_count)
      kinds = History::HARMLESS.keys.cycle
      pairs = Array.new(options.count) { |index| [proofs.call(History::REGRESSION, seed: index + 1), proofs.call(kinds.next, seed: index + 1)] }
      [rows_count, *pairs.transpose]
    end
  end

  # docs/measured/ci_recipe.md
  class Page < Bench::Page
    # @param rows_count [Integer] that were planted
    # @param planted [Array<Said>]
    # @param harmless [Array<Said>]
    def initialize(rows_count:, planted:, harmless:, **)
      super(**)
      @rows_count = rows_count
      @planted = planted
      @harmless = harmless
    end

    # What could not be measured is neither found nor a false alarm, and no success: a third outcome.
    #
    # @return [Array<Symbol>]
    def outcomes
      least_count = (@planted.size * FOUND_LEAST / PROOFS_COUNT.to_f).floor
      return %i[not_shown] if (@planted + @harmless).any? { |said| ![0, 1].include?(said.code) }
      [(found.size >= least_count) ? :met : :missed, alarms.empty? ? :met : :missed]
    end

    # @return [String]
    def results = paragraphs(facts, outcome, table, by_kind)

    # @return [String] the whole page
    def to_s = paragraphs(INTRO, results, METHOD)

    INTRO = <<~TEXT
      # Does CI find a regression of 5%?

      Written by `benchmark/ci_recipe.rb`; not to be edited. To repeat it: `bin/exec rake ci_recipe`, which takes one and a half to three hours, the longer the noisier the
      machine (`OPTIONS=--quick`: some ten minutes; `OPTIONS=--write` writes this page).
    TEXT

    METHOD = <<~TEXT
      ## How it is measured

      The repository is made for it: an app on Puma with a list of #{History::ROWS} articles, its history, and pull requests. The recipe is `ops/ci/prove_pull_request.sh` as it stands
      ([the guide](../guides/ci.md)), run as a CI does: with the pull request checked out. First a pull request that makes the list twice tells how much of a request's CPU a
      row takes; the regression makes so many rows once more that a request takes #{(PLANTED_RATIO * 100).round}% more CPU. Harmless pull requests change a README, a comment, a page that is not
      asked for, or the Gemfile. Both kinds take turns, each proof with a seed of its own.

      The recipe judges by CPU per request, and asks whether it is shown that a request takes less than 5% more. So a change that takes 5% passes in 2.5 of 100 proofs whatever
      the noise, and what noise costs are rounds: it looks after 10, 20 and 40. Where these are not enough it fails, as nothing is shown then.
    TEXT
    private_constant :INTRO, :METHOD

    private

    def found = @planted.select { |said| said.code == 1 }

    def alarms = @harmless.select { |said| said.code == 1 }

    def outcome
      untold = (@planted + @harmless).count { |said| ![0, 1].include?(said.code) }
      "**The regression was found in #{found.size} of #{@planted.size} proofs; #{alarms.size} of #{@harmless.size} harmless pull requests were called one.**" \
        "#{" Of #{untold} nothing could be told." if untold.positive?} A proof took #{minutes(@planted + @harmless)} (median)."
    end

    def minutes(said) = "#{(Bench.median(said.map(&:seconds)) / 60.0).round(1)} min"

    def table
      rows = {"#{(PLANTED_RATIO * 100).round}% more (#{@rows_count} rows of #{History::ROWS} once more)" => @planted, "harmless" => @harmless}.map do |title, all|
        ratios = all.filter_map(&:ratio).map(&:value)
        [title, all.size.to_s, all.count { |said| said.code == 1 }.to_s, ratios.empty? ? "-" : "#{times(Bench.median(ratios))} (#{ratios.minmax.map { |one| times(one) }.join("–")})",
          Bench.median(all.map(&:rounds_count)).to_s, minutes(all), "#{(all.map(&:seconds).max / 60.0).round(1)} min"]
      end
      Bench::Markdown.table(["pull request", "proofs", "exit code 1", "CPU per request, median (range)", "rounds, median", "took, median", "at most"], rows)
    end

    def by_kind
      rows = (@planted + @harmless).map { |said| [said.kind, said.code.to_s, said.ratio ? "#{times(said.ratio.value)} (#{times(said.ratio.low)}–#{times(said.ratio.high)})" : "-", said.rounds_count.to_s, said.seconds.round.to_s] }
      ["Each of them:", Bench::Markdown.table(["pull request", "exit code", "CPU per request", "rounds", "seconds"], rows)]
    end

    def times(ratio) = format("%.3fx", ratio)
  end
end

Bench.program(__FILE__, CiRecipe::Options) do |options, machine|
  rows_count, planted, harmless = CiRecipe.run(options, say: ->(text) { warn "ci_recipe: #{text}" })
  CiRecipe::Page.new(machine:, rows_count:, planted:, harmless:)
end
