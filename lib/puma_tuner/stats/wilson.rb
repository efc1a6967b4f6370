# frozen_string_literal: true

module PumaTuner
  module Stats
    # The interval of a share, by E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212: it
    # neither leaves 0..1 nor shrinks to nothing where nothing was counted, as the usual one does.
    module Wilson
      # The two-sided quantiles of the standard normal distribution.
      QUANTILES = {0.95 => 1.959963984540054, 0.99 => 2.5758293035489004}.freeze

      module_function

      # @param count [Numeric] of those that have it, 0..trials_count
      # @param trials_count [Numeric] more than 0
      # @param level_ratio [Float] one of QUANTILES
      # @return [Estimate]
      def interval(count, trials_count, level_ratio: 0.95)
        z = QUANTILES.fetch(level_ratio)
        share = count.fdiv(trials_count)
        scale = 1 + z * z / trials_count
        middle = (share + z * z / (2 * trials_count)) / scale
        half = z / scale * Math.sqrt(share * (1 - share) / trials_count + z * z / (4.0 * trials_count * trials_count))
        Estimate.new(value: share, low: [middle - half, 0.0].max, high: [middle + half, 1.0].min, level_ratio:,
          samples_count: trials_count)
      end
    end
  end
end
