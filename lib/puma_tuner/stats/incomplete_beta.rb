# frozen_string_literal: true

module PumaTuner
  module Stats
    # The regularised incomplete beta function I_x(a, b), from which Student's distribution is made.
    #
    # The function is evaluated by its continued fraction (NIST DLMF 8.17.22), from the front by Lentz's method as
    # modified by Thompson and Barnett (Press et al., "Numerical Recipes", 5.2 and 6.4).
    module IncompleteBeta
      # Evaluation ends where the last factor changes nothing any more.
      PRECISION = 1e-15
      STEPS_MAX = 100_000

      # Stands in for a denominator of zero.
      TINY = 1e-300

      class << self
        # @param x [Float] 0..1
        # @param a [Numeric] above zero
        # @param b [Numeric] above zero
        # @return [Float] 0..1
        def of(x, a, b)
          return x.to_f if x <= 0 || x >= 1
          # The fraction converges fast below the mean of the distribution only; above it, the other tail does.
          (x < (a + 1.0) / (a + b + 2.0)) ? lower(x, a, b) : 1 - lower(1 - x, b, a)
        end

        private

        def lower(x, a, b)
          log_beta = Math.lgamma(a).first + Math.lgamma(b).first - Math.lgamma(a + b).first
          Math.exp(a * Math.log(x) + b * Math.log(1 - x) - log_beta) / a / fraction(x, a, b)
        end

        # 1 + d1 / (1 + d2 / (1 + …
        def fraction(x, a, b)
          value = upper = 1.0
          under = 0.0
          (1..STEPS_MAX).each do |step|
            term = term(step, x, a, b)
            under = 1 / away_from_zero(1 + term * under)
            upper = away_from_zero(1 + term / upper)
            value *= upper * under
            return value if (upper * under - 1).abs < PRECISION
          end
          raise InvariantError, "the incomplete beta function of #{x}, #{a} and #{b} did not converge"
        end

        def term(step, x, a, b)
          half = step / 2
          return half * (b - half) * x / ((a + step - 1) * (a + step)) if step.even?
          -(a + half) * (a + b + half) * x / ((a + step - 1) * (a + step))
        end

        def away_from_zero(number) = (number.abs < TINY) ? TINY : number
      end
    end
  end
end
