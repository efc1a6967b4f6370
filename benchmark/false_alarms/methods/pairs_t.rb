# frozen_string_literal: true

module FalseAlarms
  module Methods
    # Student's t on the pairs' log-ratios.
    module PairsT
      TITLE = "pairs, Student's t"

      class << self
        def interval(log_speeds, random, effect:)
          differences = Layout.pairs(log_speeds, random, effect:).differences
          count = differences.size
          mean = differences.sum / count
          sd = Math.sqrt(differences.sum { |difference| (difference - mean)**2 } / (count - 1))
          half = quantile(count - 1) * sd / Math.sqrt(count)
          Interval.new(low: mean - half, high: mean + half)
        end

        private

        def quantile(freedom) = (@quantiles ||= {})[freedom] ||= PumaTuner::Stats::StudentT.quantile(0.975, freedom)
      end
    end
  end
end
