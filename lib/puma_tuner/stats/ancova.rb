# frozen_string_literal: true

module PumaTuner
  module Stats
    # Computes by how much two groups would differ if a covariate were the same in both: the difference of their means,
    # less what the covariate explains by a slope common to both, from the scatter within the groups (analysis of
    # covariance; Cochran, "Analysis of covariance: its nature and uses", 1957).
    #
    # Sums add up, so that those of a resample are made of its blocks'.
    #
    # count: of points; x, y, xx, xy: sums
    Ancova = Data.define(:count, :x, :y, :xx, :xy) do
      # @param points [Array<Array(Float, Float)>] covariate and value
      def self.of(points)
        new(count: points.size, x: points.sum(0.0, &:first), y: points.sum(0.0, &:last),
          xx: points.sum(0.0) { |x, _| x * x }, xy: points.sum(0.0) { |x, y| x * y })
      end

      # @param sums [Array<Ancova>]
      # @param weights [Array<Integer>] how often each counts
      def self.weighted(sums, weights)
        pairs = sums.zip(weights)
        new(count: pairs.sum { |one, weight| one.count * weight }, x: pairs.sum { |one, weight| one.x * weight },
          y: pairs.sum { |one, weight| one.y * weight }, xx: pairs.sum { |one, weight| one.xx * weight },
          xy: pairs.sum { |one, weight| one.xy * weight })
      end

      # @param baseline [Ancova]
      # @return [Float, nil] the difference of this group from the baseline; nil when one has fewer than two points
      def difference(baseline)
        return if [self, baseline].any? { |group| group.count < 2 }
        (mean_y - baseline.mean_y) - slope(baseline) * (mean_x - baseline.mean_x)
      end

      # @return [Float] 0 where the covariate does not vary within the groups, and so explains nothing
      def slope(other)
        squares = [self, other].sum(&:squares)
        (squares < 1e-9) ? 0.0 : [self, other].sum(&:products) / squares
      end

      def mean_x = x / count

      def mean_y = y / count

      def squares = xx - x * x / count

      def products = xy - x * y / count
    end
  end
end
