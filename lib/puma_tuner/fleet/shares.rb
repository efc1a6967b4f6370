# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Which share of the requests each endpoint had in two groups, block by block. Blocks count alike, so that the group
    # with more servers does not decide.
    class Shares
      # @param blocks [Array<Array(Hash, Hash)>] of both groups: {endpoint => number of requests}, none of them empty
      def initialize(blocks)
        @names = blocks.flatten(1).flat_map(&:keys).uniq
        @blocks = blocks.map do |block|
          block.map do |side|
            all = side.values.sum(0.0)
            @names.map { |name| side.fetch(name, 0.0) / all }
          end
        end
      end

      # @return [Float] the share of requests that would have to go to other endpoints (total variation distance)
      def distance_ratio = distance(Array.new(@blocks.size, false))

      # @param random [Random]
      # @return [Float] of there being no difference
      def p_value(random) = Stats::PermutationTest.p_value(@blocks.size, random:) { |swapped| distance(swapped) }

      # @param count [Integer] at most
      # @return [Array<Mover>] the endpoints whose share changed most
      def movers(count)
        a, b = means(Array.new(@blocks.size, false))
        @names.zip(a, b).sort_by { |name, one, two| [-(one - two).abs, name] }.first(count)
          .map { |name, one, two| Mover.new(endpoint: name, a_ratio: one, b_ratio: two) }
      end

      private

      def means(swapped)
        [0, 1].map do |side|
          lists = @blocks.zip(swapped).map { |block, swap| block[swap ? 1 - side : side] }
          lists.transpose.map { |column| column.sum / column.size }
        end
      end

      def distance(swapped)
        a, b = means(swapped)
        a.zip(b).sum { |one, two| (one - two).abs } / 2
      end
    end
  end
end
