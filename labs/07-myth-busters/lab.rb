# frozen_string_literal: true

%w[apache_bench blocks capacity claims charts conclusions go_server grid measured pins sizes sweep tables talk threads_duel trilogy variants].each { |name| require_relative name }

module PumaTuner
  module Labs
    # Story 5: "the bottleneck is the DB, so the language does not matter", and how many threads follow from it.
    #
    # One database and one amount of work for all (Field); servers take turns at the same loads (Duel); the parts are Grid, Capacity, ApacheBench,
    # Sweep, ThreadsDuel, Variants and Blocks, and what is made of them: Claims, Tables, Charts, Conclusions.
    class MythBusters
      # @param quick [Sizes] of the short form
      # @param full [Sizes]
      def initialize(quick: Sizes.quick, full: Sizes.full)
        @quick = quick
        @full = full
      end

      def name = "myth_busters"

      def title = "Puma against Go, and how many threads"

      def question = "\"The database is the bottleneck, so the language does not matter\": does it hold, and how many threads are right for a Puma?"

      def story = 5

      def gems(quick:) = Pins.all

      def expected_s(quick:) = quick ? 390 : 5_200

      # What is no gem.
      # @param say [#call] told what takes long
      # @raise [UsageError] naming the Debian packages that are missing
      def set_up(say:)
        Packages.ensure_installed
        GoServer.build(say:)
      end

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      # @raise [UsageError] when set-up has not been run
      def call(run)
        Packages.ensure_installed
        go = GoServer.version
        measured = Database.run { |database| measured(run, database, go) }
        tables = Tables.new(measured)
        run.finding(claims: Claims.new(measured).all, tables: tables.all, charts: Charts.new(measured).all, conclusions: Conclusions.new(measured).all,
          verdicts: measured.verdicts, unknown: unknown(run, measured))
      end

      private

      def measured(run, database, go)
        sizes = run.quick? ? @quick : @full
        run.note("timing a unit of work in both languages")
        field = Field.new(database, pace: run.part("pace") { Field.pace(run) })
        Measured.new(sizes:, go:, pace: field.pace, amounts: field.amounts, **parts(field, sizes, run))
      end

      def parts(field, sizes, run)
        grid = Grid.new(field, sizes, run)
        {
          grid: run.part("grid") { grid.call }, languages: run.part("languages") { grid.languages }, checks: run.part("ab") { ApacheBench.new(field, sizes, run).call },
          capacity: run.part("capacity") { Capacity.new(field, sizes, run).call }, threads: run.part("threads") { ThreadsDuel.new(field, sizes, run).call },
          cells: Sweep.new(field, sizes, run).call, talk: run.part("talk") { Talk.new(field, sizes, run).call },
          trilogy: run.part("trilogy") { Trilogy.new(field, sizes, run).call }, variants: Variants.new(field, sizes, run).call, verdicts: Blocks.new(field, sizes, run).call
        }
      end

      def unknown(run, measured)
        {
          "how much of a typical Rails request is IO" => "that is a matter of fleets of apps, and none runs here",
          **(run.quick? ? {"the difference between two starts of a server" => "the short form runs all rounds of a comparison on the same processes"} : {}),
          **(Blocks::TITLES - measured.verdicts.keys).to_h { |title| [title, "its rounds were void, again and again"] },
          **disturbed(measured)
        }
      end

      def disturbed(measured)
        count = measured.duels.sum(&:disturbed_count)
        return {} if count.zero?
        all_count = measured.duels.sum { |rounds| rounds.turns.values.first.to_a.size }
        {"what a quiet machine would show" => "#{count} of #{all_count} rounds were disturbed by others, and count all the same"}
      end

      PumaTuner::Lab.register self
    end
  end
end
