# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Two logs of a server: how they differ, which part of that is the mix, and each endpoint.
      class LogComparison < Base
        # Rows of endpoints, and of those that are not compared.
        MOST = {brief: 40, text: 400, markdown: 40, html: 400}.freeze
        LEFT_MOST = {brief: 10, text: 400, markdown: 20, html: 400}.freeze

        PAIRINGS = {
          week: "spans of the same time of the week", hours: "spans of the same time of the day",
          order: "spans in their order, as there is no time of the day in common"
        }.freeze
        private_constant :MOST, :LEFT_MOST, :PAIRINGS

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
          rows = @outcome.rows.map do |row|
            Row.new([row.label, number(row, row.a), number(row, row.b), change(row), row.ratio, row.adjusted,
              outcome(row)])
          end
          columns = [Column.new(""), *figures, Column.new("ratio", :ratio), Column.new("at equal mix", :ratio),
            Column.new("outcome", :outcome)]
          Section.new(id: "all", title: "All requests", blocks: [*chart, Table.new(columns, rows, style: "fleet"),
            *notes.map { |text| Note.new(text) },
            *(List.new(@outcome.remarks.map { |one| CompareWords.remark(one) }) if @outcome.remarks.any?)])
        end

        def figures = %w[a b change].map { |name| Column.new(name, :figure) }

        def chart = ([Chart.new(:log_comparison, @outcome)] if @outcome.rows.any?(&:ratio))

        def notes
          [
            "Ratios are of b over a, with #{interval}. Times are of responses with a status below 400: " \
            "#{CompareWords::SEEN_FROM.fetch(@outcome.a.seen_from)}.",
            *(if adjusted?
                "\"At equal mix\": as if each endpoint had been asked for as often in b as in a. The outcome goes " \
                "by it where there is one; all outcomes here and below are corrected together (Holm)."
              end),
            *CompareWords::UNDECIDED[@outcome.reason]
          ]
        end

        def adjusted? = @outcome.rows.any?(&:adjusted)

        def interval
          return "no interval" if @outcome.rows.none?(&:ratio)
          "95% intervals by a bootstrap over #{Figures.counted(@outcome.blocks_count, "block")} of #{block}"
        end

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
              Row.new([*heading(one, place), row.label, number(row, row.a), number(row, row.b), change(row), row.ratio,
                outcome(row)])
            end
          end
          Section.new(id: "endpoints", title: "Endpoints",
            blocks: [Table.new(columns, rows, style: "dense", most: MOST)])
        end

        def heading(one, place)
          return ["", ""] if place.positive?
          [one.endpoint, "#{Figures.count(one.a_count)} → #{Figures.count(one.b_count)}"]
        end

        def outcome(row) = row.outcome ? Cell.new(row.outcome, style: row.outcome) : ""

        def change(row) = (Units.change(row.b.fdiv(row.a)) if row.a&.positive? && row.b)

        def number(row, number)
          return "-" unless number
          case row.unit
          when "ns" then Units.duration(number)
          when "ratio" then Units.percent(number)
          else Units.rate(number)
          end
        end

        def mix
          mix = @outcome.mix or return
          columns = [Column.new("endpoint", length: 60), Column.new("share in a", :percent),
            Column.new("share in b", :percent)]
          movers = mix.shifted ? mix.movers.map { |mover| Row.new([mover.endpoint, mover.a_ratio, mover.b_ratio]) } : []
          Section.new(id: "endpoint-mix", title: "Endpoint mix", blocks: [Paragraph.new(mix_sentence(mix)),
            *(Paragraph.new(effect) if mix.shifted && @outcome.mix_rows.any?),
            Table.new(columns, movers, style: "dense")])
        end

        def mix_sentence(mix)
          chance = mix.p_value ? format("p = %.3g, permutation test over blocks", mix.p_value) :
            "which can't be told from chance here"
          said = mix.shifted ? "They were asked for different things" : "No shift of the endpoint mix is shown"
          "#{said}: #{Units.percent(mix.distance_ratio)} of the requests would have to go to other endpoints to make " \
            "the mixes equal (#{chance})."
        end

        def effect
          told = @outcome.mix_rows.map { |metric, estimate| "#{metric} #{Figures.ratio(estimate)}" }
          "The other mix alone changes b's times by: #{Figures.list(told)}."
        end

        def left
          rows = @outcome.endpoints.select(&:reason).map do |one|
            Row.new([one.endpoint, one.a_count, one.b_count, CompareWords::REASONS.fetch(one.reason)])
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
          facts.left_out.map { |why, count| "#{Figures.count(count)} #{CompareWords::LEFT_OUT.fetch(why, why)}" }
        end
      end
    end
  end
end
