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

      # What another run of the same kind would show, from independent runs whose logarithms scatter normally: the interval of a
      # prediction, sd x sqrt(1 + 1/n) (Hahn and Meeker, "Statistical Intervals", 1991, ch. 4), widened by what is known to be
      # wrong with all of them alike.
      #
      # @param samples [Array<Numeric>] positive, two or more
      # @param error_ratio [Float] standard deviation of the logarithm of that common error
      def self.of_prediction(samples, error_ratio: 0.0, level_ratio: 0.95)
        logarithms = samples.map { |sample| Math.log(sample) }
        mean = logarithms.sum / logarithms.size
        variance = logarithms.sum { |logarithm| (logarithm - mean)**2 } / (logarithms.size - 1)
        scattered = StudentT.quantile((1 + level_ratio) / 2, logarithms.size - 1) * Math.sqrt(variance * (1 + 1.0 / logarithms.size))
        common = StudentT.quantile((1 + level_ratio) / 2, Float::INFINITY) * error_ratio
        reach = Math.exp(Math.hypot(scattered, common))
        value = Math.exp(mean)
        new(value:, low: value / reach, high: value * reach, level_ratio:, samples_count: samples.size)
      end

      def covers?(number) = number.between?(low, high)
    end
  end
end
