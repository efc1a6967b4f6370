# frozen_string_literal: true

module PumaTuner
  module Labs
    # What the falsy cache's counts and rounds say: claims, tables, chart, sentences.
    class FalsyCacheMeasured
      OLD = "concurrent-ruby 1.1.6"
      PATCHED = "1.1.6 with the cure"
      WITHOUT = "without concurrent-ruby"
      TODAY = "graphql 2.6.14"
      NEXT = "graphql 2.6.14, Execution::Next"

      # Per query, by what is counted: as the talk printed them (of the parent query), or as they follow from it. The flat
      # query's are our own count of the same code, the same on Ruby 3.1 and 3.4.
      COUNTS = {
        ["parent", "resolve_value"] => [19_241, "19,241"], ["parent", "after_lazy"] => [24_284, "24,284"],
        ["parent", "compute_if_absent"] => [44_528, "44,528"], ["parent", "mutex locks"] => [44_528, nil],
        ["flat", "resolve_value"] => [10_241, nil], ["flat", "compute_if_absent"] => [20_528, nil], ["flat", "mutex locks"] => [20_528, nil]
      }.freeze

      # Of the first query of a process, by the talk's own script, all as the talk printed them. A warm process takes four
      # locks less.
      FIRST_QUERY = {"resolve_value" => 19_241, "after_lazy" => 24_284, "compute_if_absent" => 44_528, "_get" => 44_528, "mutex locks" => 44_532,
                     "Hash#each" => 6_456}.freeze
      UNPATCHED = "without patch"
      SCRIPTS_PATCH = "with patch"

      # query, YJIT: published, its ratio
      SPEEDS = {
        ["parent", "off"] => ["6.782 → 8.633 iterations/s, 1.27x", 8.633 / 6.782], ["parent", "on"] => ["1.27x, without YJIT", 8.633 / 6.782],
        ["flat", "off"] => ["66 → 54 ms, 1.22x", 66 / 54.0], ["flat", "on"] => ["1.22x, without YJIT", 66 / 54.0]
      }.freeze

      MS = Units::NS_PER_MS.to_f

      # @return [Hash{String => Prove::Verdict}]
      attr_reader :verdicts

      # @param counts [Hash{Array(String, String) => Hash}] of counts.rb, by query and variant
      # @param verdicts [Hash{String => Prove::Verdict}] those that were measured
      # @param first_query [Hash{String => Hash}] of as_published_counts.rb, by block; empty without the talk's script
      def initialize(counts:, verdicts:, first_query: {})
        @counts = counts
        @verdicts = verdicts
        @first_query = first_query
      end

      # @return [Array<Lab::Claim>]
      def claims = [*speeds, *as_published, *map_hits, *exact_counts, *first_query, *no_locks]

      # @return [Array<Lab::Table>]
      def tables = [*times, counted, profile, path]

      # @return [Array<Lab::Chart>]
      def charts
        series = verdicts.select { |name, _| name.include?(" query, YJIT") && !name.start_with?("since") }
        return [] if series.empty?
        names = series.values.first.cells.map(&:variant)
        [Lab::Chart.new(id: "query-times", title: "CPU time of a query", across: Lab::Axis.new(name: "map", ticks: names.each_with_index.map { |name, index| [index, name] }),
          up: Lab::Axis.new(name: "CPU per query", unit: "ms"), series: series.map { |name, verdict| series(name, verdict) },
          reading: "each point is the middle of the rounds, with their range. Lines only lead the eye from one version to the next.")]
      end

      # @return [Array<String>]
      def conclusions = [locks_sentence, *speed_sentence, *room].compact

      # @return [Hash{String => String}]
      def unknown(quick)
        {**without_script, **(quick ? in_short_form : {})}
      end

      private

      def without_script = @first_query.empty? ? {"the talk's own script" => "it is not here: `puma_tuner lab setup falsy_cache` fetches it where there is a network"} : {}

      def in_short_form
        {"the flat query's time, YJIT, counts of other versions, graphql today" => "the short form measures the parent query without YJIT, and the map"}
      end

      def verdict(query, yjit) = verdicts["#{query} query, YJIT #{yjit}"]

      def speeds
        SPEEDS.filter_map do |(query, yjit), (published, published_ratio)|
          verdict = verdict(query, yjit)
          next unless verdict || yjit == "off" # nobody claimed anything of YJIT
          measured = verdict && Lab::Ratios.speed(verdict, of: PATCHED, over: OLD)
          Lab::Claim.of_ratio("the cure makes the #{query} query faster, YJIT #{yjit}", measured, published:, published_ratio:)
        end
      end

      def map_hits
        %w[off on].filter_map do |yjit|
          verdict = verdicts["a hit in the map, YJIT #{yjit}"] or next
          measured = Lab::Ratios.speed(verdict, of: "1.1.7, stored nil", over: "1.1.6, stored nil")
          Lab::Claim.of_ratio("a hit on a stored nil is faster in 1.1.7, YJIT #{yjit}", measured, published: "nearly 3x", published_ratio: 3.0)
        end
      end

      def exact_counts
        COUNTS.map do |(query, what), (expected, published)|
          Lab::Claim.of_count("#{what} per #{query} query, #{OLD}", expected:, published:, counted: count(query, OLD, what))
        end
      end

      def as_published
        verdicts.select { |name, _| name.start_with?("the talk's own script") }.map do |name, verdict|
          Lab::Claim.of_ratio("the cure makes the query faster, #{name}", Lab::Ratios.speed(verdict, of: SCRIPTS_PATCH, over: UNPATCHED),
            published: "6.782 → 8.633 iterations/s, 1.27x", published_ratio: 8.633 / 6.782)
        end
      end

      def first_query
        FIRST_QUERY.map do |what, expected|
          Lab::Claim.of_count("#{what} in the first query of the talk's own script", expected:, published: Report::Figures.count(expected),
            counted: @first_query.dig(UNPATCHED, "counts", what))
        end
      end

      def no_locks
        (variants - [OLD, TODAY, NEXT]).map do |variant|
          expected = (variant == WITHOUT) ? COUNTS.fetch(["parent", "mutex locks"]).first : 0
          Lab::Claim.of_count("mutex locks per parent query, #{variant}", expected:, counted: count("parent", variant, "mutex locks"),
            note: ("graphql then has a map of its own, which always locks" if variant == WITHOUT))
        end
      end

      def variants = @counts.keys.map(&:last).uniq

      def count(query, variant, what) = @counts.dig([query, variant], "counts", what)

      def times = verdicts.map { |name, verdict| Lab::Times.of(verdict, title: "CPU time: #{name}") }

      def counted
        rows = @counts.map { |(query, variant), found| ["#{query}, #{variant}", *COUNTED.map { |what| Report::Figures.count(found["counts"].fetch(what)) }] }
        Lab::Table.new(title: "Calls per query, by ruby-prof", headings: ["query", *COUNTED], rows:)
      end

      COUNTED = ["resolve_value", "after_lazy", "compute_if_absent", "mutex locks"].freeze
      private_constant :COUNTED

      def profile
        found = @counts.fetch(["parent", OLD])
        rows = found["top"].map do |name, calls, self_s, total_s|
          [name, Report::Figures.count(calls), Report::Figures.share(self_s / found["total_s"]), Report::Figures.share(total_s / found["total_s"])]
        end
        Lab::Table.new(title: "Flat profile: the parent query, #{OLD}", headings: ["method", "calls", "self %", "total %"], rows:,
          notes: ["ruby-prof, CPU time, which each traced call makes longer: calls are exact, shares are not."])
      end

      def path
        steps = @counts.fetch(["parent", OLD]).fetch("path")
        kept = (steps.size > 14) ? [*steps.first(3), ["… #{steps.size - 11} more steps of the recursion …", nil], *steps.last(8)] : steps
        Lab::Table.new(title: "Call stack: how the map is reached", headings: ["from the query down", "calls on this path"],
          rows: kept.map { |name, calls| [name, calls ? Report::Figures.count(calls) : ""] }, notes: ["The path on which it is called most; it is reached on others, too."])
      end

      def series(name, verdict)
        points = verdict.cells.each_with_index.map do |cell, index|
          estimate = cell.estimates.fetch("cpu_per_iteration")
          [index, estimate.value / MS, estimate.low / MS, estimate.high / MS]
        end
        Lab::Series.new(title: name, points:)
      end

      def locks_sentence
        locks = count("parent", OLD, "mutex locks")
        cured = count("parent", PATCHED, "mutex locks")
        "The parent query takes #{Report::Figures.count(locks)} locks with #{OLD}, one for each question whether a value is lazy, and #{Report::Figures.count(cured)} with the cure."
      end

      def speed_sentence
        told = SPEEDS.keys.filter_map do |query, yjit|
          verdict = verdict(query, yjit) or next
          "#{Report::Figures.ratio(Lab::Ratios.speed(verdict, of: PATCHED, over: OLD))} (#{query}, YJIT #{yjit})"
        end
        ["The cure makes the query this many times as fast: #{Report::Figures.list(told)}."] if told.any?
      end

      # The question that the talk leaves open: "there seems to be more room".
      def room
        verdict = verdicts["since then, parent query, YJIT off"] or return []
        faster = Report::Figures.ratio(Lab::Ratios.speed(verdict, of: NEXT, over: OLD))
        asked = [OLD, TODAY, NEXT].map { |variant| Report::Figures.count(count("parent", variant, "compute_if_absent")) }
        ["The talk ends with \"there seems to be more room\". There was. The map was asked #{asked[0]} times a query, and is asked #{asked[1]} times by graphql 2.6.14, " \
          "#{asked[2]} times by its engine Execution::Next. It goes breadth-first: it asks each field once " \
          "for all objects instead of once for each, and answers the same query this many times as fast as the talk's setup does: #{faster} (YJIT off). " \
          "The lab \"graphql today\" (labs/06-graphql-today) goes on from there."]
      end
    end
  end
end
