# frozen_string_literal: true

module FalseAlarms
  module Methods
    # The pairs' log-ratios drawn again and again with replacement, and the middle 95 % of the means (Efron's percentile
    # interval, 1979).
    module Bootstrap
      TITLE = "pairs, percentile bootstrap"
      RESAMPLES_COUNT = 1_000

      class << self
        def interval(log_speeds, random, effect:)
          differences = Layout.pairs(log_speeds, random, effect:).differences
          means = Array.new(RESAMPLES_COUNT) { resampled_mean(differences, random) }.sort
          Interval.new(low: PumaTuner::Stats::Quantile.of(means, 0.025), high: PumaTuner::Stats::Quantile.of(means, 0.975))
        end

        private

        def resampled_mean(values, random)
          count = values.size
          sum = 0.0
          left = count
          while left.positive?
            sum += values[random.rand(count)]
            left -= 1
          end
          sum / count
        end
      end
    end
  end
end
