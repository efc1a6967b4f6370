# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Two that are held against each other, a and b: groups of servers, logs, or numbers of threads.
      class Pair < Base
        private

        # @param rows [Array<Fleet::Row>]
        # @param equal [String] "traffic", what is equal where a ratio is adjusted
        # @return [Blocks::Table]
        def comparison_table(rows, equal, style: nil)
          columns = [Column.new(""), *figures, Column.new("ratio", :ratio), Column.new("at equal #{equal}", :ratio),
            Column.new("outcome", :outcome)]
          cells = rows.map { |row| [row.label, *numbers(row), row.ratio, row.adjusted, outcome(row)] }
          Table.new(columns, cells.map { |one| Row.new(one) }, style:)
        end

        # @return [Array<Blocks::Column>] of what `numbers` tells
        def figures = %w[a b change].map { |name| Column.new(name, :figure) }

        # @param row [Fleet::Row]
        # @return [Array<String>] a and b, and the change from one to the other
        def numbers(row)
          change = Units.change(row.b.fdiv(row.a)) if row.a&.positive? && row.b
          [number(row, row.a), number(row, row.b), change]
        end

        def number(row, number)
          return "-" unless number
          case row.unit
          when "ns" then Units.duration(number)
          when "per_s" then Units.rate(number)
          when "ratio" then Units.percent(number)
          when "bytes" then bytes(number)
          else Figures.count(number.round)
          end
        end

        def outcome(row) = row.outcome ? Cell.new(row.outcome, style: row.outcome) : ""

        # @param groups [Hash{String => Array<Blocks::Ratio>}]
        # @param reading [String] of what is adjusted
        # @return [Blocks::Figure]
        def ratios(id, groups, equal, axis_names:, reading:)
          legend = [[:interval, "as it was, with its interval"], [:other, "at equal #{equal}"]]
          chart = Chart.new(:ratios, {groups:, legend:, axis_names:, headings: ["ratio"],
            label: "Ratios of b to a, with their intervals"})
          Figure.new(id:, blocks: [chart], reading: "each line is the interval in which the ratio of b to a lies, by " \
            "a bootstrap over blocks of time. #{reading} The scale is logarithmic.")
        end

        # @return [String] on the intervals of all ratios
        def interval(comparison)
          return "no interval" if comparison.rows.none?(&:ratio)
          "95% intervals by a bootstrap over #{Figures.counted(comparison.blocks_count, "block")} of #{block}"
        end

        # @param mix [Fleet::MixShift]
        # @param shifted [String] what is said of a shift
        # @param chance [String] what is said where nobody can tell a shift from chance
        # @param effect [String, nil] what the shift did
        # @return [Blocks::Section]
        def mix_section(mix, shifted:, chance:, effect:)
          chance = format("p = %.3g, permutation test over blocks", mix.p_value) if mix.p_value
          said = "#{mix.shifted ? shifted : "No shift of the endpoint mix is shown"}: " \
            "#{Units.percent(mix.distance_ratio)} of the requests would have to go to other endpoints to make the " \
            "mixes equal (#{chance})."
          columns = [Column.new("endpoint", length: 60), Column.new("share in a", :percent),
            Column.new("share in b", :percent)]
          movers = mix.shifted ? mix.movers.map { |mover| Row.new([mover.endpoint, mover.a_ratio, mover.b_ratio]) } : []
          Section.new(id: "endpoint-mix", title: "Endpoint mix",
            blocks: [*[said, *effect].map { |text| Paragraph.new(text) }, Table.new(columns, movers, style: "dense")])
        end
      end
    end
  end
end
