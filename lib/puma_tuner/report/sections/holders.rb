# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Who held the GVL while requests and jobs waited for it.
      class Holders < Base
        # Of a row.
        HOLDERS_MAX = 4

        MOST = {brief: 8, text: 9, markdown: 12}.freeze

        # Two names to a line.
        NAME_LENGTH = 30
        private_constant :HOLDERS_MAX, :MOST, :NAME_LENGTH

        # @param observation [Probe::Observation]
        def initialize(observation)
          @holders = GvlHolders.new(observation)
        end

        # @return [Blocks::Section, nil]
        def section
          return unless @holders.any?
          Section.new(id: "gvl", title: "GVL: who held it while others waited for it", brief: :never,
            blocks: [Chart.new(:holders, @holders, [table, Note.new(HOW_TO_READ)])])
        end

        private

        HOW_TO_READ = "gvlwait: mean per request. Slices: time slices that ended in an endpoint's own requests; long " \
          "holds: times these held the GVL for 10 ms or more; both per 100 requests. If a holder has many of them, " \
          "shorten its computations or the time slice; if it has none, use fewer threads per worker."
        private_constant :HOW_TO_READ

        # What all waited for tells what one alone waited for, too.
        def table
          rows = @holders.rows.map { |row| row(row) }
          rows << row(@holders.all) if rows.size > 1
          columns = [Column.new("endpoint", length: NAME_LENGTH), Column.new("gvlwait", :duration),
            Column.new("slices", :figure), Column.new("long holds", :figure), Column.new("of the wait, held by")]
          rest = ->(count) {
            row(@holders.all, "all, #{Figures.counted(@holders.rows.size - count, "row")} more among them")
          }
          Table.new(columns, rows, most: MOST, rest:)
        end

        def row(row, name = row.name)
          shares = row.largest(HOLDERS_MAX)
            .map { |name, ratio| "#{Units.percent(ratio).rjust(5)} #{Figures.shortened(name, NAME_LENGTH)}" }
          Row.new([name, row.per_request_ns, row.slices, row.long_holds, shares])
        end
      end
    end
  end
end
