# frozen_string_literal: true

module Overhead
  # By how much one thing takes more than another, from pairs measured side by side.
  #
  # PumaTuner::Stats::PairedRatio, but of differences: a cost comes on top of what was there, and does not grow with it.
  # The point is the median of the Walsh averages (Hodges and Lehmann), the interval inverts the exact signed-rank test.
  module Difference
    # @param differences [Array<Numeric, nil>] variant less baseline, one a round; nil where one of them failed
    # @param level_ratio [Float] the coverage wanted
    # @return [PumaTuner::Stats::Estimate, nil] its level_ratio is nil when there are too few pairs for the wanted one (95 %
    #   needs six), and the interval is the range of the averages; nil without any pair
    def self.of(differences, level_ratio: 0.95)
      pairs = differences.compact
      return if pairs.empty?
      averages = pairs.each_with_index.flat_map { |value, index| pairs[index..].map { |other| (value + other) / 2.0 } }.sort
      rank, reached = PumaTuner::Stats::PairedRatio.rank_and_level(pairs.size, level_ratio)
      PumaTuner::Stats::Estimate.new(value: PumaTuner::Stats::Quantile.of(averages, 0.5), low: averages[rank - 1],
        high: averages[-rank], level_ratio: reached, samples_count: pairs.size)
    end
  end
end
