# frozen_string_literal: true

module PumaTuner
  module Stats
    # Sample quantiles, type 7 of Hyndman and Fan (1996), the default of R and NumPy.
    module Quantile
      # @param sorted [Array<Numeric>] ascending
      # @param ratio [Float] 0..1
      # @return [Float, nil] nil for no samples
      def self.of(sorted, ratio)
        return if sorted.empty?
        position = ratio * (sorted.size - 1)
        below = position.floor
        low, high = sorted.values_at(below, [below + 1, sorted.size - 1].min)
        low + (high - low) * (position - below)
      end
    end
  end
end
