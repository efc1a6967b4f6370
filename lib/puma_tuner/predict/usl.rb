# frozen_string_literal: true

module PumaTuner
  module Predict
    # Gunther's universal scalability law, fitted to a sweep: X(n) = λn / (1 + α(n - 1) + βn(n - 1)).
    # N. Gunther, Guerrilla Capacity Planning (2007), ch. 4 and 5.
    #
    # single_per_s: λ, throughput at n = 1; contention_ratio: α, the part that is done one at a time; crosstalk_ratio: β, the
    #   price of each pair, which makes more worse
    # residual_ratio: root mean square of the curve's relative errors; points_count: that it was fitted to
    UslFit = Document.define(:single_per_s, :contention_ratio, :crosstalk_ratio, :residual_ratio, :points_count) do
      # @return [Float] throughput at n
      def at(count)
        single_per_s * count / (1 + contention_ratio * (count - 1) + crosstalk_ratio * count * (count - 1))
      end

      # @return [Float, nil] n of the highest throughput; nil when it grows without end
      def peak_count
        return 1.0 if contention_ratio >= 1
        [Math.sqrt((1 - contention_ratio) / crosstalk_ratio), 1.0].max if crosstalk_ratio.positive?
      end

      # @return [Float, nil] throughput that no n exceeds; nil when there is no such
      def limit_per_s
        return at(peak_count) if peak_count
        single_per_s / contention_ratio if contention_ratio.positive?
      end
    end

    # Fits the law. It explains a sweep over threads, and predicts nothing: α and β are of these settings, not of the app.
    #
    # As n / X = (1 + α(n - 1) + βn(n - 1)) / λ, it is linear in 1/λ, α/λ and β/λ. Each point is divided by its own n / X, so that
    # errors count in percent; else the slowest settings would decide. Negative α and β have no meaning; a term that would
    # become negative is left out.
    class Usl
      # The terms beside 1/λ, by how many of them may be left out.
      TERMS = [%i[contention crosstalk], %i[contention], %i[crosstalk], []].freeze
      FEWEST_POINTS_COUNT = 3

      # @param points [Array<(Integer, Float)>] n and throughput per second
      # @return [UslFit, nil] nil with fewer than three different n
      def self.fit(points)
        new(points).fit if points.map(&:first).uniq.size >= FEWEST_POINTS_COUNT
      end

      # @param points [Array<(Integer, Float)>]
      def initialize(points)
        @points = points
      end

      # @return [UslFit]
      def fit
        TERMS.filter_map { |terms| candidate(terms) }.min_by { |candidate| deviation(candidate) }.then do |best|
          best.with(residual_ratio: Math.sqrt(mean { |count, per_s| (best.at(count) / per_s - 1)**2 }))
        end
      end

      private

      # What is minimised: the relative errors of n / X, which are those of X when small.
      def deviation(candidate) = mean { |count, per_s| (per_s / candidate.at(count) - 1)**2 }

      def mean(&number) = @points.sum(&number) / @points.size

      # @return [UslFit, nil] nil when one of the terms would be negative
      def candidate(terms)
        columns = [@points.map { |count, per_s| per_s.fdiv(count) }, *terms.map { |term| column(term) }]
        base, *others = least_squares(columns, @points.map { 1.0 })
        return unless base.positive? && others.none?(&:negative?)
        ratios = terms.zip(others).to_h.transform_values { |value| value / base }
        UslFit.new(single_per_s: 1 / base, contention_ratio: ratios.fetch(:contention, 0.0),
          crosstalk_ratio: ratios.fetch(:crosstalk, 0.0), residual_ratio: nil, points_count: @points.size)
      end

      def column(term)
        @points.map { |count, per_s| per_s * (count - 1).fdiv((term == :contention) ? count : 1) }
      end

      # By Gram and Schmidt: each column is freed of those before it, then what the last one explains is taken off, and so on back.
      #
      # @return [Array<Float>] a factor for each column
      def least_squares(columns, target)
        free = columns.each_with_object([]) do |column, list|
          list << list.reduce(column) { |rest, other| minus(rest, other, projection(rest, other)) }
        end
        factors = []
        (columns.size - 1).downto(0) do |index|
          factors.unshift(projection(target, free[index]))
          target = minus(target, columns[index], factors.first)
        end
        factors
      end

      def projection(column, other) = dot(column, other) / dot(other, other)

      def minus(column, other, factor) = column.zip(other).map { |value, taken| value - factor * taken }

      def dot(column, other) = column.zip(other).sum { |one, two| one * two }
    end
  end
end
