# frozen_string_literal: true

require_relative "answers"
require_relative "changes"
require_relative "fixture_measured"
require_relative "measured"

module PumaTuner
  module Labs
    # Story 4: how graphql 1.3 became 1.5, seen at the introspection query, and what became of it since.
    class Introspection
      OLDER = {"gem.racc" => "1.8.1", "gem.base64" => "0.3.0"}.freeze

      # What the older versions take for a part of Ruby.
      # As they are told: factors, in the order of their release.
      VERSIONS = {
        **%w[1.3.0 1.4.5 1.5.3 1.8.18 1.9.21 1.11.1 1.13.25 2.0.32].to_h { |version| [version, {"gem.graphql" => version, **OLDER}] },
        **%w[2.2.17 2.4.18 2.5.26 2.6.14].to_h { |version| [version, {"gem.graphql" => version}] },
        "2.6.14, Next" => {"gem.graphql" => "2.6.14", "env.ENGINE" => "next"}
      }.freeze

      # The query's text is read each time.
      PARSERS = {
        "2.6.14" => {"gem.graphql" => "2.6.14"},
        "2.6.14, C parser" => {"gem.graphql" => "2.6.14", "gem.graphql-c_parser" => "1.1.4"},
        "2.6.14, Next" => {"gem.graphql" => "2.6.14", "env.ENGINE" => "next"},
        "2.6.14, Next, C parser" => {"gem.graphql" => "2.6.14", "env.ENGINE" => "next", "gem.graphql-c_parser" => "1.1.4"}
      }.freeze

      # Of the short form, of the older Ruby, and with YJIT.
      QUICK_VERSIONS = ["1.3.0", "1.5.3", "2.6.14", "2.6.14, Next"].freeze

      # Calls are counted in the versions of the story.
      COUNTED = %w[1.3.0 1.4.5 1.5.3].freeze

      # Two techniques by themselves, the baseline first.
      TECHNIQUES = {
        "a block, called" => %w[by_yield called yielded handed_on handed_on_unnamed],
        "a check, of one object" => ["checked, 1", "removed, 1", "restored, 1", "ready, 1"],
        "a check, of 200 objects" => ["checked, 200", "removed, 200", "restored, 200", "ready, 200"]
      }.transform_values { |blocks| blocks.to_h { |block| [block, {"block" => block}] } }.freeze

      # What the newer versions depend on.
      DEPENDENCIES = {"base64" => "0.3.0", "fiber-storage" => "1.0.1", "logger" => "1.7.0"}.freeze

      RUBIES = %w[3.3.8 3.4.5].freeze

      QUICK = {rounds_count: 6, duration_s: 0.3, warmup_limit_s: 0.2}.freeze

      # Ten rounds are an exact interval for up to 25 claims; the long form has 20.
      FULL = {rounds_count: 10, duration_s: 1.0, warmup_limit_s: 6}.freeze

      # A change by itself is in a table, with its interval of 95%.
      CHANGE = {**FULL, rounds_count: 6}.freeze

      # Microseconds of work.
      TECHNIQUE = {**FULL, duration_s: 0.3}.freeze

      def name = "introspection"

      def title = "Introspection from graphql 1.3 to today"

      def question = "How much faster did graphql 1.5 answer than 1.3, by which calls that it no longer makes, and how did it go on?"

      def story = 4

      def gems(quick:)
        versions = quick ? %w[1.3.0 1.5.3 2.6.14] : VERSIONS.values.map { |factors| factors.fetch("gem.graphql") }.uniq
        gems = {"graphql" => versions, "racc" => "1.8.1", "ruby-prof" => "2.0.5", **DEPENDENCIES, **(quick ? {} : {"graphql-c_parser" => "1.1.4"})}
        Lab::Gems.pins(gems, rubies: quick ? [RUBY_VERSION] : RUBIES)
      end

      def sources(quick:) = [IntrospectionChanges::REPOSITORY]

      def expected_s(quick:) = quick ? 75 : 2_200

      # @param run [Lab::Run]
      # @return [Lab::Finding]
      def call(run)
        versions = run.quick? ? VERSIONS.slice(*QUICK_VERSIONS) : VERSIONS
        measured = IntrospectionMeasured.new(answers: answers(run, versions), counts: counts(run, versions), verdicts: verdicts(run, versions),
          parsers: parsers(run))
        fixture = fixture(run)
        run.finding(claims: measured.claims + fixture.claims, tables: measured.tables + fixture.tables, charts: measured.charts,
          conclusions: measured.conclusions + fixture.conclusions, verdicts: {**measured.all_verdicts, **fixture.verdicts},
          unknown: {**measured.unknown(run.quick?), **fixture.unknown(run.quick?)})
      end

      private

      # The story's own benchmark.
      # @return [IntrospectionFixtureMeasured]
      def fixture(run)
        changes = IntrospectionChanges.all
        IntrospectionFixtureMeasured.new(first: fixture_counts(run, "1.3.0", IntrospectionChanges::RELEASES.fetch("1.3.0")), changes:,
          counts: changes.flat_map { |change| [change.before, change.commit] }.uniq
            .to_h { |commit| [commit, fixture_counts(run, commit[0, 8], IntrospectionChanges.at(commit))] },
          verdicts: {**(run.quick? ? {} : steps(run, changes)), **techniques(run)})
      end

      def fixture_counts(run, name, factors)
        run.note("counting calls of the story's own benchmark, #{name}")
        run.child("fixture_counts.rb", factors: {**factors, "gem.ruby-prof" => "2.0.5"})
      end

      # @return [Hash{String => Prove::Verdict}] by change; without the repository, of releases
      def steps(run, changes)
        return {"releases" => of_fixture(run, "releases", IntrospectionChanges::RELEASES)} if changes.empty?
        changes.to_h do |change|
          variants = {"before" => IntrospectionChanges.at(change.before), "after" => IntrospectionChanges.at(change.commit)}
          [change.what, of_fixture(run, change.what, variants, (change.what == IntrospectionChanges::WHOLE) ? FULL : CHANGE)]
        end
      end

      def of_fixture(run, title, variants, times = FULL)
        run.proof("fixture_blocks.rb", variants.transform_values { |own| {**own, "block" => "fixture", "yjit" => "off"} }, title:, **times)
      end

      def techniques(run)
        times = run.quick? ? {**QUICK, duration_s: 0.05} : TECHNIQUE
        TECHNIQUES.to_h do |title, variants|
          title = "#{title}, YJIT off"
          [title, run.proof("micro.rb", variants.transform_values { |own| {**own, "yjit" => "off"} }, title:, **times)]
        end
      end

      # @return [Hash{String => Hash}] by version
      def answers(run, versions)
        versions.to_h do |name, factors|
          run.note("the answer of #{name}")
          [name, run.child("answer.rb", factors:)]
        end
      end

      def counts(run, versions)
        versions.slice(*COUNTED).to_h do |name, factors|
          run.note("counting calls of #{name}")
          [name, run.child("counts.rb", factors: {**factors, "gem.ruby-prof" => "2.0.5"})]
        end
      end

      # @return [Hash{String => Prove::Verdict}] by Ruby and YJIT; in each, all versions
      def verdicts(run, versions)
        return {"Ruby #{RUBY_VERSION}, YJIT off" => proof(run, versions, {"yjit" => "off"}, QUICK)} if run.quick?
        older, newer = RUBIES
        few = versions.slice(*QUICK_VERSIONS)
        {**of_ruby(newer, "off", run, versions), **of_ruby(newer, "on", run, few), **of_ruby(older, "off", run, few)}
      end

      # @return [Hash{String => Prove::Verdict}] the same of the query's text; none in the short form
      def parsers(run) = run.quick? ? {} : of_ruby(RUBIES.last, "off", run, PARSERS, "block" => "text")

      def of_ruby(ruby, yjit, run, variants, factors = {})
        {"Ruby #{ruby}, YJIT #{yjit}" => proof(run, variants, {"ruby" => ruby, "yjit" => yjit, **factors}, FULL)}
      end

      def proof(run, variants, factors, times)
        run.proof("blocks.rb", variants.transform_values { |own| {"block" => "document", **own, **factors} }, title: factors.map { |factor| factor.join(" ") }.join(", "), **times)
      end

      PumaTuner::Lab.register self
    end
  end
end
