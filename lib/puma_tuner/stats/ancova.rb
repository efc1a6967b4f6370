# frozen_string_literal: true

module PumaTuner
  module Stats
    # Computes by how much two groups would differ if a covariate were the same in both: the difference of their means,
    # less what the covariate explains by a slope common to both, from the scatter within the groups (analysis of
    # covariance; Cochran, "Analysis of covariance: its nature and uses", 1957).
    #
    # Sums add up, so that those of a resample are made of its blocks'.
    #
    # count: of points; weight: of all of them; x, y, xx, xy: sums
    Ancova = Data.define(:count, :weight, :x, :y, :xx, :xy) do
      # @param points [Array<Array(Float, Float, Float)>] covariate, value and weight, which is 1 where it is not given
      def self.of(points)
        sum = ->(&term) { points.sum(0.0) { |x, y, weight = 1.0| weight * term.call(x, y) } }
        new(count: points.size, weight: sum.call { 1.0 }, x: sum.call { |x, _| x }, y: sum.call { |_, y| y },
          xx: sum.call { |x, _| x * x }, xy: sum.call { |x, y| x * y })
      end

      # @param sums [Array<Ancova>]
      # @param weights [Array<Integer>] how often each counts
      def self.weighted(sums, weights)
        pairs = sums.zip(weights)
        new(**members.to_h { |name| [name, pairs.sum { |one, weight| one.public_send(name) * weight }] })
      end

      # @param baseline [Ancova]
      # @return [Float, nil] the difference of this group from the baseline; nil when one has fewer than two points
      def difference(baseline)
        explained = explained(baseline) and mean_y - baseline.mean_y - explained
      end

      # @param baseline [Ancova]
      # @return [Float, nil] the part of the difference that the covariate explains; nil as above
      def explained(baseline)
        slope(baseline) * (mean_x - baseline.mean_x) if [self, baseline].all? { |group| group.count >= 2 }
      end

      # @return [Float] 0 where the covariate does not vary within the groups, and so explains nothing
      def slope(other)
        squares = [self, other].sum(&:squares)
        (squares < 1e-9) ? 0.0 : [self, other].sum(&:products) / squares
      end

      def mean_x = x / weight

      def mean_y = y / weight

      def squares = xx - x * x / weight

      def products = xy - x * y / weight
    end
  end
end
