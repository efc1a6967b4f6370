# frozen_string_literal: true

module PumaTuner
  module Stats
    # Two counts of independent events over two exposures (requests, hours), and how their rates compare. Given how many
    # there were together, the second count is binomial, whatever the rates were (Przyborowski and Wilenski, Biometrika
    # 31, 1940): its share's interval becomes the ratio's, and its exact test the ratio's.
    module RateRatio
      module_function

      # @param counts [Array(Numeric, Numeric)] before and after
      # @param exposures [Array(Numeric, Numeric)] of each, more than 0
      # @return [Estimate, nil] after over before, per exposure; high is infinite where the first count is so small that
      #   it might be none; nil when both counts are 0
      def of(counts, exposures, level_ratio: 0.95)
        return if counts.sum.zero?
        share = Wilson.interval(counts.last, counts.sum, level_ratio:)
        value, low, high = [share.value, share.low, share.high].map do |part|
          odds(part) * exposures.first.fdiv(exposures.last)
        end
        Estimate.new(value:, low:, high:, level_ratio:, samples_count: counts.sum.round)
      end

      # @return [Float] two-sided, of "both rates are equal"; 1.0 when nothing was counted
      def p_value(counts, exposures)
        count, total = counts.last.round, counts.sum.round
        return 1.0 if total.zero?
        share = exposures.last.fdiv(exposures.sum)
        [2 * [at_most(count, total, share), at_least(count, total, share)].min, 1.0].min
      end

      # Evidence that the second rate is higher, which may be asked for after each event: of equal rates it reaches 100
      # at most once in 100 times, however often it is looked (Ville, "Étude critique de la notion de collectif", 1939),
      # where a p-value reaches 1% sooner or later. It tells how much likelier the counts are if the second one's share
      # may be any higher one, all equally likely, than if it is that of its exposure (Robbins, "Statistical methods
      # related to the law of the iterated logarithm", 1970).
      #
      # @param counts [Array(Integer, Integer)] before and after
      # @param exposures [Array(Numeric, Numeric)] of each, more than 0
      # @return [Float] 1.0 when nothing was counted
      def evidence_of_more(counts, exposures)
        count, total = counts.last, counts.sum
        share = exposures.last.fdiv(exposures.sum)
        ways = [total, count, total - count].map { |number| Math.lgamma(number + 1).first }
        by_chance = ways[0] - ways[1] - ways[2] + count * Math.log(share) + (total - count) * Math.log(1 - share)
        # Of all shares alike, each count is as likely; those above are so much of them.
        above = (1 - IncompleteBeta.of(share, count + 1, total - count + 1)) / (1 - share)
        above / (total + 1) / Math.exp(by_chance)
      end

      def odds(share) = (share >= 1) ? Float::INFINITY : share / (1 - share)

      # Tails of the binomial distribution by the incomplete beta function (NIST DLMF 8.17.5).
      def at_most(count, total, share) = (count >= total) ? 1.0 : IncompleteBeta.of(1 - share, total - count, count + 1)

      def at_least(count, total, share) = count.zero? ? 1.0 : IncompleteBeta.of(share, count, total - count + 1)
    end
  end
end
