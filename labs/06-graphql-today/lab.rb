# frozen_string_literal: true

require "tmpdir"
require_relative "differential"
require_relative "measured"

module PumaTuner
  module Labs
    # What stories 1 and 4 left open: "there seems to be more room". Is there, in today's graphql?
    class GraphqlToday
      # By what it is answered, and which query: classic is what most apps run.
      # Next has nothing that could leave `unhelped` out.
      CELLS = [*%w[classic next].product(%w[introspection flat parent dataloader]), %w[classic unhelped]].freeze
      QUICK_CELLS = [%w[classic introspection], %w[next parent]].freeze

      VERSIONS = {"graphql" => "2.6.14", "base64" => "0.3.0", "fiber-storage" => "1.0.1", "logger" => "1.7.0"}.freeze

      QUICK = {rounds_count: 6, duration_s: 0.3, warmup_limit_s: 0.2}.freeze

      # Ten rounds are an exact interval for up to 25 claims, and there are 18, one of each cell with YJIT off and on.
      FULL = {rounds_count: 10, duration_s: 1.0, warmup_limit_s: 6}.freeze

      # Of answers held against each other, with the cures and without.
      QUICK_QUERIES = {schemas: 20, queries: 9}.freeze
      FULL_QUERIES = {schemas: 150, queries: 20}.freeze

      PROFILED_S = 4

      def name = "graphql_today"

      def title = "Room in today's graphql"

      def question = "Where does graphql 2.6.14 spend its time on the queries of stories 1 and 4, and what do cures of our own bring?"

      def story = 4

      def gems(quick:) = Lab::Gems.pins(VERSIONS)

      def expected_s(quick:) = quick ? 30 : 1_750

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      def call(run)
        measured = GraphqlTodayMeasured.new(verdicts: verdicts(run), differentials: differentials(run), profiles: run.quick? ? {} : profiles(run))
        run.finding(claims: measured.claims, tables: measured.tables, charts: [], conclusions: measured.conclusions, verdicts: measured.verdicts,
          unknown: run.quick? ? {"other queries, YJIT, profiles" => "the short form measures one query of each engine, without YJIT"} : {})
      end

      private

      # @return [Hash{String => Prove::Verdict}] by cell
      def verdicts(run)
        yjit, cells = run.quick? ? [%w[off], QUICK_CELLS] : [%w[off on], CELLS]
        yjit.product(cells).to_h do |compiler, (engine, query)|
          title = "#{engine}, #{query}, Ruby #{RUBY_VERSION}, YJIT #{compiler}"
          factors = {"yjit" => compiler, "env.ENGINE" => engine, "env.QUERY" => query, "gem.graphql" => VERSIONS.fetch("graphql")}
          variants = {"the gem" => "0", "cured" => "1"}.transform_values { |patched| {**factors, "env.PATCHED" => patched} }
          [title, run.proof("blocks.rb", variants, title:, **(run.quick? ? QUICK : FULL))]
        end
      end

      # @return [Hash{String => ::GraphqlToday::Differential::Comparison::Outcome}] by engine
      def differentials(run)
        %w[classic next].to_h do |engine|
          run.note("answers with the cures and without, #{engine}")
          [engine, ::GraphqlToday::Differential::Comparison.new(engine:, seed: run.seed, **(run.quick? ? QUICK_QUERIES : FULL_QUERIES)).call]
        end
      end

      # @return [Hash{String => Array(Profile::Costs, Profile::Costs)}] of the gem and cured, by engine; empty without the profiler
      def profiles(run)
        profiler = Probe::Profilers.find("stackprof")
        return {} unless Profile::Library.installed?(profiler)
        %w[classic next].to_h do |engine|
          [engine, %w[0 1].map { |patched| profile(run, profiler, {"env.ENGINE" => engine, "env.QUERY" => "introspection", "env.PATCHED" => patched, "yjit" => "off"}) }]
        end
      rescue UsageError, MeasurementFailed => error
        # Tables beside what is claimed: half an hour of rounds is not lost for them.
        run.note("no profiles: #{error.message}")
        {}
      end

      def profile(run, profiler, factors)
        run.note("profiling #{factors.fetch("env.ENGINE")}, #{(factors.fetch("env.PATCHED") == "1") ? "cured" : "the gem"}")
        Dir.mktmpdir do |folder|
          settings = Probe::Profiling::Settings.new(profiler: profiler::NAME, mode: "cpu", interval_us: nil, folder:, scope: "window", token: nil,
            paths: Profile::Library.paths_of(profiler))
          Profile::BlockRun.new(file: File.join(__dir__, "blocks.rb"), command: run.command_of({**factors, "gem.graphql" => VERSIONS.fetch("graphql")}), settings:, profiler:, name: nil,
            warmup_s: 2, duration_s: PROFILED_S).call
        end
      end

      PumaTuner::Lab.register self
    end
  end
end
