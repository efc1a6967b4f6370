# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # A variant's sign in all charts of a proof; the first is the baseline's.
      module Symbols
        # How many can be told apart.
        COUNT = 5

        # @param index [Integer] of the variant
        # @return [Integer] of `_symbol.html.erb`
        def self.number(index) = [index, COUNT - 1].min
      end
    end
  end
end
