# frozen_string_literal: true

module Overhead
  # Who comes when. Every round has each variant once. Rounds come in pairs, the second in the first one's order from its end,
  # so that nobody always follows the same one; the next pair begins with the next variant.
  module Rounds
    # @param variants [Array]
    # @param round [Integer]
    # @return [Array] the same in this round's order
    def self.order(variants, round)
      rotated = variants.rotate(round / 2)
      round.odd? ? rotated.reverse : rotated
    end
  end
end
