# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Who waited for the GVL (down) and who held it meanwhile (across): the stronger the colour, the larger the share,
      # up to the largest that there is.
      class HolderMatrix
        # heat: 0..1
        Cell = Data.define(:text, :heat, :title)

        # Most of the wait is due to few.
        ROWS_MAX = 16
        HOLDERS_MAX = 7

        REST = "the rest"

        # @param holders [GvlHolders]
        def initialize(holders)
          @holders = holders
        end

        # @return [Boolean]
        def any? = @holders.any?

        # @return [Array<GvlHolders::Row>] the longest wait first, all of them together last
        def rows
          shown = @holders.rows.first(ROWS_MAX)
          (@holders.rows.size > 1) ? [*shown, all] : shown
        end

        # @return [GvlHolders::Row]
        def all = @holders.all

        # @return [Array<String>] who held it longest first
        def columns = [*named, *(REST if rest?)]

        # @param row [GvlHolders::Row]
        # @return [Array<Cell>] one for each column; the rest is nobody, and has no colour
        def cells(row)
          ratios = named.to_h { |name| [name, row.shares.fetch(name, 0.0)] }
          cells = ratios.map { |name, ratio| cell(row, name, ratio, ratio / largest) }
          cells << cell(row, REST, 1 - ratios.values.sum, 0) if rest?
          cells
        end

        # @return [Integer] rows that are not shown
        def hidden_count = [@holders.rows.size - ROWS_MAX, 0].max

        private

        def sorted = @sorted ||= all.shares.sort_by { |name, ratio| [-ratio, name] }.map(&:first)

        # One holder more takes no more room than the rest would.
        def named = rest? ? sorted.first(HOLDERS_MAX) : sorted

        def rest? = sorted.size > HOLDERS_MAX + 1

        def largest = @largest ||= rows.flat_map { |row| row.shares.values_at(*named) }.compact.max

        def cell(row, name, ratio, heat)
          seen = ratio >= ThreadLine::LEAST_PRINTED_RATIO
          Cell.new(text: seen ? Figures.share(ratio) : "", heat: heat.round(2),
            title: "#{name} held it for #{Units.duration(row.per_request_ns * ratio)} (#{Units.percent(ratio)}) of " \
              "the #{Units.duration(row.per_request_ns)} that #{row.name} waited")
        end
      end
    end
  end
end
