# frozen_string_literal: true

require "json"
require "open3"
require "tmpdir"
require_relative "service"
require_relative "measured"

module PumaTuner
  module Labs
    # Stories 1 and 4 as a service: the goal breaks, the profile names the lock, a forecast says what the cure would do,
    # and the cure is proven; then the same service with today's graphql.
    class GraphqlService
      OLD = "as it was"
      CURED = "with the cure"
      TODAY = "graphql today"

      GRAPHQL = {"gem.graphql" => "1.11.1", "gem.racc" => "1.8.1", "gem.base64" => "0.3.0"}.freeze
      TODAYS = {"gem.graphql" => "2.6.14", "gem.base64" => "0.3.0"}.freeze

      # The baseline first.
      VARIANTS = {
        OLD => {**GRAPHQL, "gem.concurrent-ruby" => "1.1.6"},
        CURED => {**GRAPHQL, "gem.concurrent-ruby" => "1.1.7"},
        TODAY => TODAYS,
        "#{TODAY}, Execution::Next" => {**TODAYS, "env.ENGINE" => "next"}
      }.freeze

      SERVER = {"gem.puma" => "8.0.2", "gem.rack" => "3.2.8", "gem.nio4r" => "2.7.5"}.freeze
      COUNTER = {"gem.ruby-prof" => "2.0.5"}.freeze

      QUICK = {rounds_count: 6, duration_s: 0.3, warmup_limit_s: 0.2}.freeze
      FULL = {rounds_count: 8, duration_s: 2.0, warmup_limit_s: 10}.freeze

      def name = "graphql_service"

      def title = "The day the alert rang: a lock under a GraphQL service"

      def question = "A service's goal breaks, nobody changed anything: which commands lead to the lock, and does the cure bring the goal back?"

      def story = 1

      def gems(quick:)
        Lab::Gems.pins({"graphql" => %w[1.11.1 2.6.14], "racc" => "1.8.1", "base64" => "0.3.0", "concurrent-ruby" => %w[1.1.6 1.1.7],
          "fiber-storage" => "1.0.1", "logger" => "1.7.0", "ruby-prof" => "2.0.5", "puma" => "8.0.2", "rack" => "3.2.8", "nio4r" => "2.7.5"})
      end

      def expected_s(quick:) = quick ? 130 : 1_850

      # The profiler that `profile --outliers` takes, where that command finds it.
      # @param say [#call] told what takes long
      # @raise [UsageError] when it can't be had
      def set_up(say:)
        profiler = Profile.profiler(GraphqlServiceDay::PROFILER)
        return if Profile::Library.installed?(profiler)
        say.call("installing #{profiler::GEM}")
        Profile::Library.install(GraphqlServiceDay::PROFILER)
      end

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      def call(run)
        counts = run.part("counts") { run.child("counts.rb", factors: VARIANTS.fetch(OLD).merge(COUNTER), limit_s: 300) }
        day = GraphqlServiceDay.new(run, counts).call(variants(run))
        measured = GraphqlServiceMeasured.new(counts:, day:, verdicts: verdicts(run), quick: run.quick?)
        run.finding(claims: measured.claims, tables: measured.tables, conclusions: measured.conclusions, verdicts: measured.verdicts, unknown: measured.unknown)
      end

      private

      # The talk's own with YJIT, too; today's graphql without, as the service runs.
      def variants(run, yjit = "off") = (run.quick? || yjit == "on") ? VARIANTS.first(2).to_h : VARIANTS

      # @return [Hash{Array(String, String) => Prove::Verdict}] by query and YJIT
      def verdicts(run)
        pairs = run.quick? ? [%w[Related off]] : %w[Parents Related].product(%w[off on])
        pairs.to_h do |query, yjit|
          factors = variants(run, yjit).transform_values { |own| own.merge("block" => query, "yjit" => yjit) }
          [[query, yjit], run.proof("blocks.rb", factors, title: "#{query}, YJIT #{yjit}", **(run.quick? ? QUICK : FULL))]
        end
      end

      PumaTuner::Lab.register self
    end
  end
end
