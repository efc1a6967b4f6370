# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Two groups of servers: what each did, by how much they differ, whether both were asked for the same, and all
      # services.
      class Fleet < Pair
        # Why rows are not shown whatever their figures say.
        UNDECIDED = {
          short_blocks: "%s: not shown, whatever the figures are. Parts of a day hang together, and intervals of " \
            "them are narrower than the truth; a --window of four days or more decides.",
          few_blocks: "%s: not shown, as there are too few blocks of time for an interval.",
          traffic_apart: "%s: not shown, as the groups have no traffic per worker in common: the ratio includes the " \
            "effect of traffic.",
          unknown_traffic: "%s: not shown, as the groups' workers are unknown, and with them the traffic of each: " \
            "the ratio may be the effect of traffic.",
          few_requests: "%s: not shown, as the groups had different traffic per worker, and spans have too few " \
            "requests to tell its effect from the rest of the ratio; a longer --step has more in each."
        }.freeze

        SOURCES = {"rules" => "recorded rules"}.freeze
        BLOCKS = {86_400 => "one day", 21_600 => "six hours", 3_600 => "one hour"}.freeze
        private_constant :UNDECIDED, :SOURCES, :BLOCKS

        # @param comparison [Fleet::Comparison]
        def initialize(comparison)
          @comparison = comparison
        end

        # @return [Blocks::Page]
        def page
          Page.new(title: "Fleet: #{name(@comparison.a)} against #{name(@comparison.b)}", kicker: "PumaTuner fleet",
            date: @comparison.started_at,
            head: [Labelled.new(rows: {"a" => group(@comparison.a), "b" => group(@comparison.b)}, style: :points)],
            command: @comparison.command,
            parts: [Part.new(id: "comparison", title: "How they differ", sections: [comparison]),
              Part.new(id: "mix", title: "Endpoint mix", sections: [mix]),
              Part.new(id: "services", title: "Services", sections: [services]),
              Part.new(id: "methodology", title: "Methodology", sections: [foundations])])
        end

        private

        def name(group)
          return group.selector unless @comparison.a.selector == @comparison.b.selector
          "#{group.selector} until #{group.ends_at}"
        end

        def group(group) = "#{group.selector}, #{group.begins_at} to #{group.ends_at}: #{counts(group)}"

        def counts(group)
          sizes = {"server" => group.servers_count, "worker" => group.workers_count}.compact
          [*sizes.map { |noun, count| Figures.counted(count.round, noun) },
            Figures.counted(group.requests_count, "request"),
            "#{group.compared_count} of #{Figures.counted(group.spans_count, "span")} compared"].join(", ")
        end

        def comparison
          data = [Subheading.new("The data"), List.new(@comparison.warnings)] if @comparison.warnings.any?
          Section.new(id: "differences", title: "How they differ",
            blocks: [chart, comparison_table(@comparison.rows, "traffic", style: "fleet"),
              *notes.map { |text| Note.new(text) }, *goals, *data])
        end

        def chart
          ratios("fleet-ratios", {nil => @comparison.rows.select(&:ratio).map { |row| ratio(row) }}, "traffic",
            axis_names: ["← less in b", "more in b →"],
            reading: "Where the line stays clear of 1, the groups differ. A diamond apart from its circle says that " \
              "one group had more traffic than the other.")
        end

        def ratio(row)
          a, b, _ = numbers(row)
          ratio, adjusted = [row.ratio, row.adjusted].map { |estimate| Figures.ratio(estimate) }
          Ratio.new(row.label, row.ratio, other: row.adjusted&.value, outcome: row.outcome, facts: [ratio],
            title: ["#{row.label}: #{a} to #{b}, #{ratio}", *("at equal traffic #{adjusted}" if row.adjusted),
              *(Figures.outcome(row.outcome) if row.outcome)].join("; "))
        end

        # How many requests of each group met the goals that were asked for.
        def goals
          told = [@comparison.a, @comparison.b].to_h do |group|
            [group.name, group.attainments.map { |one| "#{one.goal}: #{GoalWords.attainment(one)}" }]
          end
          [Subheading.new("Goals"), Labelled.new(told)] if told.values.any?(&:any?)
        end

        # How to read the table.
        def notes
          [
            "Ratios are of b over a, with #{interval(@comparison)}.",
            "\"At equal traffic\": as if both had the same requests per second and worker. The outcome goes by it " \
            "where there is one, corrected for multiple comparisons (Holm).",
            *undecided, *errors
          ]
        end

        def errors
          rows = @comparison.rows.select(&:error_ratio)
          return [] if rows.empty?
          known = rows.map { |row| "#{row.label} within #{Units.percent(row.error_ratio)}" }
          ["The width of the histograms' buckets limits precision: #{Figures.list(known)}. Ratios are more precise " \
            "where both values lie in similar places of their buckets."]
        end

        def undecided
          by_reason = @comparison.rows.select(&:reason).group_by(&:reason)
          by_reason.map { |reason, rows| format(UNDECIDED.fetch(reason), Figures.list(rows.map(&:label))) }
        end

        def mix
          mix = @comparison.mix or return
          p99 = "With a's mix in both, b's p99 would be #{Figures.ratio(mix.p99_at_a_mix)} a's." if mix.p99_at_a_mix
          mix_section(mix, shifted: "The groups got different requests", effect: p99,
            chance: "too few days to tell it from chance, six are needed")
        end

        def services
          columns = [Column.new("service", length: 24), Column.new("requests/s (peak)", :figure),
            Column.new("workers", :count), Column.new("threads / by rule", :figure), Column.new("gvlwait", :percent),
            Column.new("queue", :percent), Column.new("memory", :figure), Column.new("workers needed", :figure),
            Column.new("memory saved", :figure)]
          advised = @comparison.services.reject { |service| service.advice.empty? }
          advice = advised.flat_map { |service| [Subheading.new(service.name), List.new(service.advice)] }
          Section.new(id: "all-services", title: "Services", brief: :alone, open: false,
            blocks: [Table.new(columns, @comparison.services.map { |service| Row.new(service_cells(service)) },
              style: "dense"), Note.new(service_note), *advice])
        end

        def service_cells(service)
          [service.name, "#{Units.rate(service.mean_per_s)} (#{Units.rate(service.peak_per_s)})",
            service.workers_count&.round,
            [service.threads_per_worker&.round || "-", service.rule_threads_count || "-"].join(" / "),
            service.parts["gvl_wait"], service.parts["queue"], bytes(service.memory_bytes),
            service.needed_workers_count&.to_s, bytes(service.saved_bytes)]
        end

        def service_note
          "In all, #{bytes(@comparison.saved_bytes)} could be saved. Estimates from means over the window and its " \
            "busiest span, by the rule of thumb (100 / CPU %), to decide where to look first: " \
            "`puma_tuner tune` on one service predicts and proves what a change brings."
        end

        def foundations
          rows = {
            "source" => "#{@comparison.url}, #{SOURCES.fetch(@comparison.source, "the exporter's own metrics")}",
            "blocks" => "#{Figures.counted(@comparison.blocks_count, "block")} of #{block}#{hours_note}",
            **Unknowns.of(@comparison.unknown).transform_keys { |what| "unknown: #{what}" }
          }
          Section.new(id: "sources", title: "Methodology", open: false, blocks: [Labelled.new(rows)])
        end

        # A worker's code and a fleet's memory are five orders of magnitude apart.
        def bytes(number)
          return "-" unless number
          gib = number.fdiv(1 << 30)
          (gib >= 10) ? "#{Units.significant(gib)} GiB" : "#{Units.significant(number.fdiv(Units::MIB))} MiB"
        end

        def block = BLOCKS.fetch(@comparison.block_s) { Units.duration(@comparison.block_s * Units::NS_PER_S) }

        def hours_note
          return "" unless @comparison.block_s < 86_400
          "; with less than four days, how much days differ is in no interval, and nothing is shown"
        end
      end
    end
  end
end
