# frozen_string_literal: true

module PumaTuner
  module Report
    # What only a page has: charts, their templates, style and script, and the document that lies in it.
    class Html
      PumaTuner.autoload_folder(self, "#{__dir__}/html")

      # So many symbols can be told apart.
      SYMBOLS_COUNT = 5

      # @param index [Integer] of a variant; the first is the baseline
      # @return [Integer] of `_symbol.html.erb`, the variant's in all charts
      def self.symbol(index) = [index, SYMBOLS_COUNT - 1].min

      # @param cells [Array<Prove::Cell>] the baseline first
      # @return [Array<Array(Integer, String)>] symbol and name of each
      def self.legend(cells) = cells.each_with_index.map { |cell, index| [symbol(index), Figures.variant(cell)] }
    end
  end
end
