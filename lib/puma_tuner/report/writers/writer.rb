# frozen_string_literal: true

module PumaTuner
  module Report
    module Writers
      # What all writers have in common: a method for each block, found by the block's name.
      class Writer
        METHODS = (Blocks.constants - [:InOrder]).to_h { |name| [Blocks.const_get(name), name.downcase] }.freeze

        private

        def write(block) = send(METHODS.fetch(block.class), block)

        # @return [String] on entries that a medium has no room for
        def more_of(count, *nouns) = "#{Figures.counted(count, *nouns)} more in the HTML report and in the JSON."

        # @return [String, nil] on a table's rows that it has no room for
        def rows_left_out(block, medium)
          count = block.hidden_count(medium)
          return if count.zero?
          return more_of(count, *block.nouns) unless block.rows.any?(&:key)
          "#{block.rows.size - count} of #{Figures.counted(block.rows.size, *block.nouns)}."
        end
      end
    end
  end
end
