# frozen_string_literal: true

module PumaTuner
  module Labs
    # What the day, the counts and the rounds say: claims, tables, sentences.
    class GraphqlServiceMeasured
      OLD = "as it was"
      CURED = "with the cure"

      # As the talk printed them, by query: milliseconds, and their ratio. 6.782 and 8.633 iterations/s are 147 and 116 ms.
      PUBLISHED = {"Parents" => ["147 → 116 ms, 1.27x", 8.633 / 6.782], "Related" => ["66 → 54 ms, 1.22x", 66 / 54.0]}.freeze

      # Values of a query's answer, about each of which graphql 1.11.1 asks the map once too often: the same as in lab 01, as
      # it has as many fields.
      LOCKS = {"Parents" => 44_528, "Related" => 20_528}.freeze

      # @param counts [Hash] of counts.rb, of the service as it was
      # @param day [GraphqlServiceDay::Day]
      # @param verdicts [Hash{Array(String, String) => Prove::Verdict}] by query and YJIT
      # @param quick [Boolean]
      def initialize(counts:, day:, verdicts:, quick:)
        @counts = counts
        @day = day
        @by_pair = verdicts
        @quick = quick
      end

      # @return [Array<Lab::Claim>]
      def claims = [*locks, *speeds, goes_further, *goals]

      # @return [Hash{String => Prove::Verdict}]
      def verdicts = @by_pair.transform_keys { |query, yjit| "#{query}, YJIT #{yjit}" }

      # @return [Array<Lab::Table>]
      def tables = [day_table, times_table]

      # @return [Array<String>]
      def conclusions
        before, after = @day.foretold.values_at("before", "after")
        [
          "At #{@day.rate_per_s} requests/s, #{share(OLD)} of the requests met #{GraphqlServiceDay::GOAL}; #{share(CURED)} with the cure.",
          "The locks of a mean request cost #{Units.duration(@day.locks_ns)} by counting. Without that (#{@day.foretold["what_if"]}) the forecast is " \
          "#{told(after)} requests/s instead of #{told(before)}; the cure took it from #{middle(@day.rates[OLD])} to #{middle(@day.rates[CURED])}.",
          "Of the time of the #{@day.outliers["count"]} slowest requests (`profile --outliers`), #{percent(@day.outliers["share"])} has `compute_if_absent` on its stack; by themselves take the most: " \
          "#{@day.outliers["methods"].map { |name, ratio| "`#{name}` (#{Units.percent(ratio)})" }.join(", ")}.",
          "Endpoints, as the app names them: #{@day.foretold["endpoints"].sort.join(", ")}."
        ]
      end

      # @return [Hash{String => String}]
      def unknown = @quick ? {"the longer query's time, YJIT, graphql today" => "the short form measures the smaller query without YJIT, before and after the cure"} : {}

      private

      def locks
        LOCKS.map do |query, expected|
          Lab::Claim.of_count("locks per #{query} query, #{OLD}", expected:, counted: @counts.dig("queries", query, "locks"),
            published: ("44,532 in a first query" if query == "Parents"),
            note: "four fields each, as in the talk's query; an enum's value is asked about as a text's")
        end
      end

      def speeds
        @by_pair.map do |(query, yjit), verdict|
          published, published_ratio = PUBLISHED.fetch(query)
          Lab::Claim.of_ratio("the cure makes the #{query} query faster, YJIT #{yjit}", Lab::Ratios.speed(verdict, of: CURED, over: OLD),
            published: (yjit == "on") ? "#{published}, without YJIT" : published, published_ratio:)
        end
      end

      # Two rounds, as in the short form, have no interval.
      def goes_further
        Lab::Claim.of_ratio("the service takes more requests with the cure", (of_rounds(@day.rates) if @day.rates[OLD].size >= 6))
      end

      def of_rounds(lists) = Lab::Ratios.of_pairs(lists[OLD], lists[CURED])

      def goals
        [OLD, CURED].map do |name|
          Lab::Claim.of_number("p90 at #{@day.rate_per_s} requests/s, #{name}", Stats::Estimate.of_range(@day.p90s_ns[name]), unit: "ns", published: "the goal: #{GraphqlServiceDay::GOAL}")
        end
      end

      def day_table
        rows = @day.rates.keys.map do |name|
          [name, middle(@day.rates[name]), share(name), Report::Figures.with_range(Stats::Estimate.of_range(@day.p90s_ns[name])) { |ns| Units.duration(ns) }]
        end
        Lab::Table.new(title: "The service, before and after", headings: ["variant", "requests/s it takes", "met #{GraphqlServiceDay::GOAL} at #{@day.rate_per_s}/s", "p90 then"], rows:,
          notes: ["Middle and range of #{@day.rates[OLD].size} rounds of what it takes and #{@day.shares[OLD].size} of the goal, each in a fresh server (#{GraphqlServiceDay::TOPOLOGY}, YJIT off). " \
            "#{@day.rate_per_s}/s is #{GraphqlServiceDay::LOAD_RATIO} times what the service as it was could take."])
      end

      def times_table
        rows = @by_pair.flat_map do |(query, yjit), verdict|
          verdict.cells.map do |cell|
            [query, yjit, cell.variant, Report::Figures.with_range(cell.estimates.fetch("cpu_per_iteration")) { |ns| Units.duration(ns) },
              (cell.variant == OLD) ? "1" : Report::Figures.ratio(Lab::Ratios.speed(verdict, of: cell.variant, over: OLD)), PUBLISHED.fetch(query).first]
          end
        end
        Lab::Table.new(title: "One query, CPU time", headings: ["query", "YJIT", "variant", "a query takes", "times as fast", "published, of another machine"], rows:,
          notes: ["Middle and range of #{@by_pair.values.first.rounds_count} rounds; ratios with their 95% interval."])
      end

      def share(name)
        Report::Figures.with_range(Stats::Estimate.of_range(@day.shares[name])) { |ratio| Units.percent(ratio) }
      end

      def middle(list) = Report::Figures.with_range(Stats::Estimate.of_range(list)) { |rate| Units.rate(rate) }

      def percent((value, low, high)) = "#{Units.percent(value)} (#{Units.percent(low)}–#{Units.percent(high)})"

      def told((value, low, high)) = "#{Units.rate(value)} (#{Units.rate(low)}–#{Units.rate(high)})"
    end
  end
end
