# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Tells whether the groups were asked for the same things: a group that gets the dearer endpoints is slower whatever
    # else it differs in.
    class MixComparer
      # A smaller share of requests that go elsewhere moves a mean by less than what intervals of a week can show.
      DISTANCE_MIN_RATIO = 0.02
      P_VALUE_MAX = 0.05

      # With fewer days, chance alone reaches the largest distance more often than that: two ways of the 2^n always tie
      # with what was seen, and 2/2^5 is 0.0625.
      DAYS_MIN = 6

      MOVERS_MAX = 8
      RESAMPLES_COUNT = 200

      # @param blocks [Array<Array(Hash, Hash)>] see Shares
      # @param days [Boolean] whether a block is a day; parts of days hang together, and swapping them tells nothing
      # @yieldreturn [Stats::Estimate, nil] p99 with a's mix in both, which is asked for where the mix shifted
      # @return [MixShift]
      def self.shift(blocks, days:, random:)
        shares = Shares.new(blocks)
        distance_ratio = shares.distance_ratio
        p_value = shares.p_value(random) if days && blocks.size >= DAYS_MIN
        shifted = distance_ratio >= DISTANCE_MIN_RATIO && !p_value.nil? && p_value <= P_VALUE_MAX
        MixShift.new(distance_ratio:, p_value:, shifted:, movers: shares.movers(MOVERS_MAX).freeze,
          p99_at_a_mix: (yield if shifted))
      end

      # @param pairs [Array<Array<Array(Span, Span)>>] by block
      # @param days [Boolean] see shift
      # @param random [Random]
      def initialize(pairs, days:, random:)
        @blocks = pairs.map { |block| [0, 1].map { |side| merged(block.map { |pair| pair[side].endpoints }) } }
        @whole = pairs.map { |block| [0, 1].map { |side| Measured.histogram(block.map { |pair| pair[side] }) } }
        @days = days
        @random = random
      end

      # @return [MixShift, nil] nil where endpoints are not known
      def call
        return if names.empty? || @blocks.any? { |block| block.any? { |side| total(side).zero? } }
        counts = @blocks.map { |block| block.map { |side| side.transform_values(&:count) } }
        MixComparer.shift(counts, days: @days, random: @random) { p99_at_a_mix }
      end

      private

      # @return [Hash{String => MergedHistogram}]
      def merged(spans)
        names = spans.flat_map(&:keys).uniq
        names.to_h { |name| [name, Measured.weighted(spans.filter_map { |endpoints| endpoints[name] })] }
      end

      def names = @names ||= @blocks.flatten(1).flat_map(&:keys).uniq

      def total(endpoints) = endpoints.values.sum(0.0, &:count)

      # Direct standardisation: each endpoint of b counts as often as it did in a. Of endpoints that b was never asked
      # for nothing is known, and they are left out.
      #
      # Endpoints have coarse histograms. So only what the mix does to b's p99 is taken from these, where both
      # percentiles lie close together in like buckets, and put on top of the ratio by the fine ones. Held against a's
      # coarse p99 it missed by a tenth.
      def p99_at_a_mix
        results = Stats::BlockBootstrap.of(@blocks.size, random: @random, resamples_count: RESAMPLES_COUNT) do |weights|
          [log_ratio(weights)]
        end
        results.first&.estimate
      end

      def log_ratio(weights)
        a, b = [0, 1].map { |side| Measured.weighted(@whole.map { |block| block[side] }, weights).quantile_s(0.99) }
        effect = mix_effect(weights)
        Math.log(b / a) + Math.log(effect) if a && b && effect
      end

      # @return [Float, nil] b's p99 with a's mix over b's own
      def mix_effect(weights)
        both = names.filter_map do |name|
          [0, 1].map { |side| sum(name, side, weights) }.then { |one, two| [one, two] if one && two&.count&.positive? }
        end
        return if both.empty?
        own = both.map(&:last)
        moved = Measured.weighted(own, both.map { |one, two| one.count / two.count })
        before, after = [Measured.weighted(own), moved].map { |all| all.quantile_s(0.99) }
        after / before if before&.positive? && after
      end

      def sum(name, side, weights)
        list = @blocks.zip(weights).filter_map do |block, weight|
          [block[side][name], weight] if block[side][name] && !weight.zero?
        end
        Measured.weighted(*list.transpose) if list.any?
      end
    end

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
