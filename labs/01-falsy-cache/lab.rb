# frozen_string_literal: true

require_relative "measured"

module PumaTuner
  module Labs
    # Story 1: concurrent-ruby's map took its lock on every hit whose stored value is nil or false, and graphql asks it, for
    # each value of an answer, for a nil.
    class FalsyCache
      GRAPHQL = {"gem.graphql" => "1.11.1", "gem.racc" => "1.8.1", "gem.base64" => "0.3.0"}.freeze

      OLD = "concurrent-ruby 1.1.6"
      PATCHED = "1.1.6 with the cure"

      # The baseline first. Calls are counted in all, and times measured of the first two: later releases have the same cure,
      # and what else they changed is not the talk's.
      VARIANTS = {
        OLD => {**GRAPHQL, "gem.concurrent-ruby" => "1.1.6"},
        PATCHED => {**GRAPHQL, "gem.concurrent-ruby" => "1.1.6", "env.FALSY_CACHE_PATCH" => "on"},
        "concurrent-ruby 1.1.7" => {**GRAPHQL, "gem.concurrent-ruby" => "1.1.7"},
        "concurrent-ruby 1.3.8" => {**GRAPHQL, "gem.concurrent-ruby" => "1.3.8"},
        "without concurrent-ruby" => GRAPHQL
      }.freeze

      # The same query, years later; without YJIT, as published.
      TODAY = {
        OLD => VARIANTS.fetch(OLD),
        "graphql 2.6.14" => {"gem.graphql" => "2.6.14"},
        "graphql 2.6.14, Execution::Next" => {"gem.graphql" => "2.6.14", "env.ENGINE" => "next"}
      }.freeze

      MICRO = {
        "1.1.6, stored nil" => {"gem.concurrent-ruby" => "1.1.6", "block" => "stored nil"},
        "1.1.7, stored nil" => {"gem.concurrent-ruby" => "1.1.7", "block" => "stored nil"}
      }.freeze

      # The script that the talk shows, as it was on its day.
      SCRIPT = Lab::Source.new(name: "talks-script", address: "https://github.com/mtsmfm/graphql-ruby-benchmark-example.git",
        commits: ["01df7e7b2549b051255f29dff27e938a9aa4fc97"], needed_for: "the talk's own script, bench.rb, unchanged")

      # Its own names: it has the cure in itself.
      AS_PUBLISHED = ["without patch", "with patch"].to_h { |block| [block, {**VARIANTS.fetch(OLD), "git" => SCRIPT.commits.first, "block" => block}] }.freeze

      QUICK_COUNTS = [[OLD, "parent"], [OLD, "flat"], [PATCHED, "parent"]].freeze

      QUICK = {rounds_count: 6, duration_s: 0.3, warmup_limit_s: 0.2}.freeze
      FULL = {rounds_count: 10, duration_s: 1.0, warmup_limit_s: 6}.freeze

      def name = "falsy_cache"

      def title = "A lock on every cached nil, under graphql"

      def question = "What does it cost that a map takes its lock on each hit whose stored value is nil, and what does the cure bring?"

      def story = 1

      def gems(quick:)
        concurrent = quick ? %w[1.1.6 1.1.7] : %w[1.1.6 1.1.7 1.3.8]
        today = quick ? {} : {"base64" => "0.3.0", "fiber-storage" => "1.0.1", "logger" => "1.7.0"}
        Lab::Gems.pins({"graphql" => quick ? "1.11.1" : %w[1.11.1 2.6.14], "racc" => "1.8.1", "concurrent-ruby" => concurrent, "ruby-prof" => "2.0.5", **today})
      end

      def sources(quick:) = [SCRIPT]

      def expected_s(quick:) = quick ? 50 : 950

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      def call(run)
        measured = FalsyCacheMeasured.new(counts: counts(run), verdicts: {**verdicts(run), **as_published(run)}, first_query: first_query(run))
        run.finding(claims: measured.claims, tables: measured.tables, charts: measured.charts, conclusions: measured.conclusions,
          verdicts: measured.verdicts, unknown: measured.unknown(run.quick?))
      end

      private

      # @return [Hash{Array(String, String) => Hash}] by query and variant
      def counts(run)
        pairs = run.quick? ? QUICK_COUNTS : [*VARIANTS.keys.product(%w[parent flat]), *TODAY.keys.drop(1).product(%w[parent])]
        pairs.to_h do |variant, query|
          run.note("counting calls of the #{query} query, #{variant}")
          [[query, variant], run.child("counts.rb", query, factors: {**VARIANTS, **TODAY}.fetch(variant).merge("gem.ruby-prof" => "2.0.5"))]
        end
      end

      # @return [Hash{String => Hash}] of the talk's own script, by its block; none where set-up could not fetch it
      def first_query(run)
        return {} unless SCRIPT.there?
        AS_PUBLISHED.to_h do |block, factors|
          run.note("counting calls of the talk's own script, #{block}")
          [block, run.child("as_published_counts.rb", block, factors: {**factors.except("block"), "gem.ruby-prof" => "2.0.5"})]
        end
      end

      def as_published(run)
        return {} unless SCRIPT.there?
        (run.quick? ? %w[off] : %w[off on]).to_h do |yjit|
          times = run.quick? ? QUICK : FULL
          ["the talk's own script, YJIT #{yjit}", run.proof("as_published_blocks.rb", with(AS_PUBLISHED, "yjit" => yjit), title: "the talk's script, YJIT #{yjit}", **times)]
        end
      end

      def verdicts(run)
        return quick_verdicts(run) if run.quick?
        yjit = %w[off on]
        timed = VARIANTS.first(2).to_h
        queries = %w[parent flat].product(yjit).to_h { |query, state| ["#{query} query, YJIT #{state}", of_query(run, timed, query, state)] }
        {
          **queries,
          **yjit.to_h { |state| ["a hit in the map, YJIT #{state}", run.proof("micro.rb", with(MICRO, "yjit" => state), title: "map, YJIT #{state}", **FULL)] },
          "since then, parent query, YJIT off" => of_query(run, TODAY, "parent", "off")
        }
      end

      def quick_verdicts(run)
        {
          "parent query, YJIT off" => of_query(run, VARIANTS.first(2).to_h, "parent", "off", **QUICK),
          "a hit in the map, YJIT off" => run.proof("micro.rb", with(MICRO, "yjit" => "off"), title: "map", **QUICK, duration_s: 0.1)
        }
      end

      def of_query(run, variants, query, yjit, **times)
        run.proof("blocks.rb", with(variants, "block" => query, "yjit" => yjit), title: "#{query}, YJIT #{yjit}", **FULL, **times)
      end

      def with(variants, factors) = variants.transform_values { |own| own.merge(factors) }

      PumaTuner::Lab.register self
    end
  end
end
