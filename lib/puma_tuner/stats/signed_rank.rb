# frozen_string_literal: true

module PumaTuner
  module Stats
    # Wilcoxon's signed-rank test of differences that are symmetric about zero when there is no effect.
    #
    # Exact for any number, also with ties: given the sizes of the differences, each sign is a fair coin. Equal sizes
    # share their mean rank. Zeros take part in the ranking and then have no sign (Pratt, "Remarks on zeros and ties in
    # the Wilcoxon signed rank procedures", 1959): were they dropped first, as Wilcoxon did, larger differences could
    # show less than smaller.
    module SignedRank
      class << self
        # @param differences [Array<Numeric>]
        # @return [Float] two-sided p-value; 1 of nothing but zeros
        def p_value(differences)
          sizes = differences.map { |difference| difference.to_f.abs }
          ranks = doubled_ranks(sizes)
          positive, others = differences.zip(sizes).partition { |difference, _| difference.positive? }
            .map { |some| some.map { |_, size| ranks[size] } }
          fewest = [positive.sum, others.sum].min
          [2 * probability_up_to(fewest, (positive + others).reject(&:zero?)), 1.0].min
        end

        private

        # Twice the rank, so that the mean of neighbouring ranks is whole, by size. A zero counts nothing.
        def doubled_ranks(sizes)
          below = 0
          sizes.tally.sort.to_h do |size, count|
            rank = size.zero? ? 0 : 2 * below + count + 1
            below += count
            [size, rank]
          end
        end

        # Adds up the chances of all sums of the ranks that get a plus, one rank at a time.
        def probability_up_to(sum, ranks)
          chances = [1.0] + [0.0] * sum
          ranks.each do |rank|
            sum.downto(0) { |at| chances[at] = (chances[at] + ((at < rank) ? 0.0 : chances[at - rank])) / 2 }
          end
          chances.sum
        end
      end
    end
  end
end
