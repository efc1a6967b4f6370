# frozen_string_literal: true

module PumaTuner
  module Stats
    # Student's t distribution; with infinite freedom, the normal one.
    module StudentT
      # Halving brackets so often leaves nothing between two neighbouring floats.
      HALVINGS = 200

      # Quantiles that are kept: of all intervals of a sweep or a proof, a few are asked for again and again.
      KEPT_MAX = 1_000
      private_constant :KEPT_MAX

      class << self
        # @param t [Float]
        # @param freedom [Numeric] degrees of freedom, 1 or more
        # @return [Float] the chance of a value up to t (NIST DLMF 8.17(i); Abramowitz and Stegun 26.7.1)
        def probability(t, freedom)
          return Math.erfc(-t / Math.sqrt(2)) / 2 if freedom.to_f.infinite?
          tail = IncompleteBeta.of(freedom / (freedom + t * t.to_f), freedom / 2.0, 0.5) / 2
          t.positive? ? 1 - tail : tail
        end

        # @param probability [Float] between 0 and 1
        # @param freedom [Numeric] degrees of freedom, 1 or more
        # @return [Float] the value that this share of values does not exceed
        def quantile(probability, freedom)
          return -quantile(1 - probability, freedom) if probability < 0.5
          known = (@quantiles ||= {})
          known.clear if known.size >= KEPT_MAX
          known[[probability, freedom]] ||= bisected(probability, freedom)
        end

        private

        # Slow and sure.
        def bisected(probability, freedom)
          low = 0.0
          high = 1.0
          high *= 2 while probability(high, freedom) < probability
          HALVINGS.times do
            middle = (low + high) / 2
            break if middle <= low || middle >= high
            (probability(middle, freedom) < probability) ? low = middle : high = middle
          end
          high
        end
      end
    end
  end
end
