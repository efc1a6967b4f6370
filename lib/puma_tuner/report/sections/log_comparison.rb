# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Two logs of a server: how they differ, which part of that is the mix, and each endpoint.
      class LogComparison < Pair
        # Rows of endpoints, and of those that are not compared.
        MOST = {brief: 40, text: 400, markdown: 40, html: 400}.freeze
        LEFT_MOST = {brief: 10, text: 400, markdown: 20, html: 400}.freeze

        PAIRINGS = {
          week: "spans of the same time of the week", hours: "spans of the same time of the day",
          order: "spans in their order, as there is no time of the day in common"
        }.freeze

        # Which time of a request it is.
        SEEN_FROM = {
          "app" => "the app's time, as who asked it saw it", "client" => "the time until the client had its response"
        }.freeze

        # Why nothing is shown, whatever the figures are.
        UNDECIDED = {
          other_hours: "Nothing is shown, whatever the figures are: the logs are of other hours of the day, and " \
            "traffic differs between hours. Compare with the same hours of a day before.",
          few_blocks: "Nothing is shown, whatever the figures are: the logs have too little time in common, or too " \
            "few requests in it, for an interval. Take longer logs.",
          short_blocks: "Nothing is shown, whatever the figures are: what disturbs this server lasts too long for " \
            "logs of this length, and intervals are narrower than the truth. Take longer logs, best of four days and " \
            "more."
        }.freeze

        # Why an endpoint is not compared.
        REASONS = {
          few_requests: "too few requests", only_in_a: "only in the first", only_in_b: "only in the second",
          not_asked: "beyond --top"
        }.freeze

        LEFT_OUT = {
          "no_request" => "lines that are no request", "asset" => "for files of pictures, styles or scripts",
          "no_time" => "without a time", "interleaved" => "under way beside others, whose lines have no tag"
        }.freeze

        # What a reader has to know.
        REMARKS = {
          other_formats: ->(a:, b:) {
            "The logs are of different formats (#{a}, #{b}), which take the time at different places: the ratio has " \
              "that in it."
          },
          without_time: ->(log:, ratio:) {
            "#{log}: #{Units.percent(ratio)} of its requests are left out, as their lines tell no time of the app's."
          },
          left_hours: ->(log:, ratio:) {
            "#{log}: #{Units.percent(ratio)} of its requests are left out, as they came at hours that the other does " \
              "not have, or that it has on more days than the rest."
          },
          other_traffic: ->(ratio:) {
            "b served #{Units.times(ratio.first)} as many requests per second. At more requests, queues are longer: " \
              "a part of the change may be theirs."
          },
          errors_of_one: ->(log:, other:, ratio:) {
            "#{other} has no response with status 500 and above, and #{log} has #{Units.percent(ratio)}: that makes " \
              "no ratio, and the outcome goes by the difference."
          },
          other_endpoints: ->(covered_ratio:) {
            "The mix is made equal over endpoints that both were asked for often enough; they have " \
              "#{Units.percent(covered_ratio)} of the requests."
          },
          less_than_days: "The intervals are of these hours: by how much one day differs from another is in none of " \
            "less than four days."
        }.freeze
        private_constant :MOST, :LEFT_MOST, :PAIRINGS, :SEEN_FROM, :UNDECIDED, :REASONS, :LEFT_OUT, :REMARKS

        # @param outcome [Compare::Outcome]
        def initialize(outcome)
          @outcome = outcome
        end

        # @return [Blocks::Page]
        def page
          Page.new(title: "#{@outcome.a.name} against #{@outcome.b.name}", kicker: "PumaTuner compare",
            date: @outcome.started_at,
            head: [Labelled.new({"a" => log(@outcome.a), "b" => log(@outcome.b)}, style: :points)],
            command: @outcome.command,
            parts: [Part.new(id: "comparison", title: "All requests", sections: [all]),
              Part.new(id: "endpoints", title: "Endpoints", sections: [endpoints]),
              Part.new(id: "mix", title: "Endpoint mix", sections: [mix]),
              Part.new(id: "left", title: "What is not compared", sections: [left]),
              Part.new(id: "methodology", title: "Methodology", sections: [foundations])])
        end

        private

        def log(facts)
          "#{facts.name} (#{facts.format}), #{facts.begins_at} to #{facts.ends_at}: " \
            "#{Figures.counted(facts.requests_count, "request")}, #{Figures.count(facts.compared_count)} compared"
        end

        def all
          Section.new(id: "all", title: "All requests",
            blocks: [chart, comparison_table(@outcome.rows, "mix", style: "fleet"),
              *notes.map { |text| Note.new(text) },
              List.new(@outcome.remarks.map { |one| Statements.words(one, REMARKS) })])
        end

        def chart
          groups = {"all requests" => @outcome.rows, **@outcome.endpoints.to_h { |one| [one.endpoint, one.rows] }}
            .to_h { |name, rows| [name, rows.filter_map { |row| ratio(name, row) if row.ratio && row.unit == "ns" }] }
          ratios("log-ratios", groups, "mix", axis_names: ["← faster in b", "slower in b →"],
            reading: "A diamond apart from its circle says that other things were asked for: what is left of the " \
              "change at its place is the endpoints' own.")
        end

        def ratio(name, row)
          ratio = Figures.ratio(row.ratio)
          equal = "; at equal mix #{Figures.ratio(row.adjusted)}" if row.adjusted
          Ratio.new(row.label, row.ratio, other: row.adjusted&.value, outcome: row.outcome, facts: [ratio],
            title: "#{name}, #{row.label}: #{ratio}#{equal}; #{Figures.outcome(row.outcome || :not_shown)}")
        end

        def notes
          [
            "Ratios are of b over a, with #{interval(@outcome)}. Times are of responses with a status below 400: " \
            "#{SEEN_FROM.fetch(@outcome.a.seen_from)}.",
            *(if adjusted?
                "\"At equal mix\": as if each endpoint had been asked for as often in b as in a. The outcome goes " \
                "by it where there is one; all outcomes here and below are corrected together (Holm)."
              end),
            *UNDECIDED[@outcome.reason]
          ]
        end

        def adjusted? = @outcome.rows.any?(&:adjusted)

        def block = duration(@outcome.block_s)

        # @param seconds [Numeric]
        def duration(seconds)
          units = {86_400 => "day", 3_600 => "hour", 60 => "minute"}
          whole, unit = units.find { |size, _| seconds >= size } || [1, "second"]
          number = seconds.fdiv(whole)
          Figures.counted((number % 1).zero? ? number.to_i : number.round(1), unit)
        end

        def endpoints
          compared = @outcome.endpoints.reject { |one| one.rows.empty? }
          columns = [Column.new("endpoint", length: 44), Column.new("requests", :figure), Column.new("", :text),
            *figures, Column.new("ratio", :ratio), Column.new("outcome", :outcome)]
          rows = compared.flat_map do |one|
            one.rows.each_with_index.map do |row, place|
              Row.new([*heading(one, place), row.label, *numbers(row), row.ratio, outcome(row)])
            end
          end
          Section.new(id: "endpoints", title: "Endpoints",
            blocks: [Table.new(columns, rows, style: "dense", most: MOST)])
        end

        def heading(one, place)
          return ["", ""] if place.positive?
          [one.endpoint, "#{Figures.count(one.a_count)} → #{Figures.count(one.b_count)}"]
        end

        def mix
          mix = @outcome.mix or return
          mix_section(mix, shifted: "They were asked for different things",
            effect: (effect if mix.shifted && @outcome.mix_rows.any?), chance: "which can't be told from chance here")
        end

        def effect
          told = @outcome.mix_rows.map { |metric, estimate| "#{metric} #{Figures.ratio(estimate)}" }
          "The other mix alone changes b's times by: #{Figures.list(told)}."
        end

        def left
          rows = @outcome.endpoints.select(&:reason).map do |one|
            Row.new([one.endpoint, one.a_count, one.b_count, REASONS.fetch(one.reason)])
          end
          return if rows.empty?
          columns = [Column.new("endpoint", length: 60), Column.new("requests in a", :count),
            Column.new("requests in b", :count), Column.new("why not", :text)]
          Section.new(id: "not-compared", title: "What is not compared", open: false,
            blocks: [Table.new(columns, rows, style: "dense", most: LEFT_MOST, nouns: %w[endpoint endpoints])])
        end

        def foundations
          correlation = duration(@outcome.correlation_s.round(1)) if @outcome.correlation_s
          rows = {
            "pairs" => "#{PAIRINGS.fetch(@outcome.pairing)}, #{duration(@outcome.span_s)} each",
            "blocks" => "#{Figures.counted(@outcome.blocks_count, "block")} of #{block}",
            "disturbances last" => correlation && "about #{correlation}, by the autocorrelation of the difference",
            "times to within" => Units.duration(@outcome.a.resolution_ns),
            **{"a" => @outcome.a, "b" => @outcome.b}.to_h { |name, facts| ["left out of #{name}", left_out(facts)] }
          }
          Section.new(id: "foundations", title: "Methodology", open: false, brief: :never, blocks: [Labelled.new(rows)])
        end

        def left_out(facts)
          facts.left_out.map { |why, count| "#{Figures.count(count)} #{LEFT_OUT.fetch(why, why)}" }
        end
      end
    end
  end
end
