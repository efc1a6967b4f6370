# frozen_string_literal: true

module PumaTuner
  module Stats
    # A number with its interval and what it rests on.
    #
    # value, low, high: same unit, which the field that holds the estimate names
    # level_ratio: the interval's coverage, e.g. 0.95; nil when it is a plain range (minimum to maximum)
    # samples_count: independent samples behind it
    Estimate = Document.define(:value, :low, :high, :level_ratio, :samples_count) do
      # Samples further apart do not scatter around anything by a ratio. A judgement.
      const_set(:LOGARITHMIC_FACTOR, 10)

      # Scatter that reaches further by a factor tells nothing. A judgement.
      const_set(:REACH_FACTOR, 100)

      # The middle and the range of independent runs. With few runs a range promises less, and is harder to misread,
      # than an interval computed from an assumed distribution.
      #
      # @param samples [Array<Numeric>]
      # @return [Estimate]
      def self.of_range(samples)
        new(value: Quantile.of(samples.sort, 0.5), low: samples.min, high: samples.max, level_ratio: nil,
          samples_count: samples.size)
      end

      # Predicts what another run of the same kind would show, from independent runs whose logarithms scatter normally:
      # the interval of a prediction, sd x sqrt(1 + 1/n) (Hahn and Meeker, "Statistical Intervals", 1991, ch. 4),
      # widened by an error that all of them have alike. Each of both has its own reach, Student's and the normal one,
      # and the root of the sum of their squares holds at least what it promises: 95 to 97% of five runs and more, up to
      # 97.6% of three, 98.6% of two. Rejected was Student's t with the freedom that Satterthwaite gives the sum, which
      # holds 88% of two runs and 92% of three.
      #
      # Where samples are zero, or next to nothing beside others, or two of them so far apart that the interval of their
      # logarithms has no end that means anything, the same is done with the numbers themselves, and the interval ends
      # at zero. That is decided by their scatter alone, and the common error is one of logarithms there, too: the more
      # it is, the wider is the interval.
      #
      # @param samples [Array<Numeric>] none negative, two or more
      # @param error_ratio [Float] standard deviation of the logarithm of that common error
      # @param level_ratio [Float] of the interval, 0.95 for 95%
      # @return [Estimate]
      def self.of_prediction(samples, error_ratio: 0.0, level_ratio: 0.95)
        common = StudentT.quantile((1 + level_ratio) / 2, Float::INFINITY) * error_ratio
        if samples.min * self::LOGARITHMIC_FACTOR > samples.max
          mean, scattered = mean_and_reach(samples.map { |sample| Math.log(sample) }, level_ratio)
        end
        if scattered && scattered < Math.log(self::REACH_FACTOR)
          reach = Math.hypot(scattered, common)
          value, low, high = [mean, mean - reach, mean + reach].map { |logarithm| Math.exp(logarithm) }
        else
          value, scattered = mean_and_reach(samples, level_ratio)
          reach = Math.hypot(scattered, value * (Math.exp(common) - 1))
          low, high = [value - reach, 0.0].max, value + reach
        end
        new(value:, low:, high:, level_ratio:, samples_count: samples.size)
      end

      def self.mean_and_reach(samples, level_ratio)
        mean = samples.sum.fdiv(samples.size)
        variance = samples.sum { |sample| (sample - mean)**2 } / (samples.size - 1)
        [mean, StudentT.quantile((1 + level_ratio) / 2, samples.size - 1) *
          Math.sqrt(variance * (1 + 1.0 / samples.size))]
      end
      private_class_method :mean_and_reach

      # @return [Float] by how much its ends are above and below the middle, as a ratio: 0.08 of 92.6 to 108
      def reach_ratio = low.positive? ? Math.sqrt(high / low) - 1 : Float::INFINITY

      # @return [Array<Numeric>] [value, low, high], as a Statement has it
      def to_fact = [value, low, high]

      # @param number [Numeric]
      # @return [Boolean]
      def covers?(number) = number.between?(low, high)
    end
  end
end
