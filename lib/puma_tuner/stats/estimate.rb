# frozen_string_literal: true

module PumaTuner
  module Stats
    # A number with its interval and what it rests on.
    #
    # value, low, high: same unit, which the field that holds the estimate names
    # level_ratio: the interval's coverage, e.g. 0.95; nil when it is a plain range (minimum to maximum)
    # samples_count: independent samples behind it
    Estimate = Document.define(:value, :low, :high, :level_ratio, :samples_count) do
      # The middle and the range of independent runs. With few runs a range promises less, and is harder to misread,
      # than an interval computed from an assumed distribution.
      #
      # @param samples [Array<Numeric>]
      def self.of_range(samples)
        new(value: Quantile.of(samples.sort, 0.5), low: samples.min, high: samples.max, level_ratio: nil, samples_count: samples.size)
      end

      def covers?(number) = number.between?(low, high)
    end
  end
end
