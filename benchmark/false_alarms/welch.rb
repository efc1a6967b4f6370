# frozen_string_literal: true

module FalseAlarms
  # Welch's test of two means (1947), by its p-value: an interval would take a quantile of its own for each.
  Welch = Data.define(:difference, :standard_error, :freedom) do
    # @param baseline [Array<Float>]
    # @param variant [Array<Float>]
    def self.of(baseline, variant)
      means, variances = [baseline, variant].map { |values| moments(values) }.transpose
      first, second = variances.zip([baseline.size, variant.size]).map { |variance, count| variance / count }
      freedom = (first + second)**2 / (first**2 / (baseline.size - 1) + second**2 / (variant.size - 1))
      new(difference: means.last - means.first, standard_error: Math.sqrt(first + second), freedom:)
    end

    def self.moments(values)
      mean = values.sum.fdiv(values.size)
      [mean, values.sum { |value| (value - mean)**2 } / (values.size - 1)]
    end
    private_class_method :moments

    # Whether the interval of 95 % does.
    def excludes?(log) = PumaTuner::Stats::StudentT.probability((difference - log).abs / standard_error, freedom) > 0.975
  end
end
