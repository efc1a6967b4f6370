# frozen_string_literal: true

module PumaTuner
  module Stats
    # Sample quantiles, type 7 of Hyndman and Fan (1996), the default of R and NumPy.
    module Quantile
      # @param sorted [Array<Numeric>] ascending
      # @param ratio [Float] 0..1
      # @return [Float, nil] nil for no samples
      def self.of(sorted, ratio)
        between(sorted.size, ratio) { |index| sorted[index] }
      end

      # The same of a histogram, without spreading it out: a load of ten minutes has millions of samples and a few
      # thousand distinct values.
      #
      # @param counts [Hash{Numeric => Integer}] how often each value occurs; values ascending
      # @param ratio [Float] 0..1
      # @return [Float, nil] nil for no samples
      def self.of_counts(counts, ratio)
        between(counts.values.sum, ratio) { |index| value_at(counts, index) }
      end

      class << self
        private

        def between(size, ratio)
          return if size.zero?
          position = ratio * (size - 1)
          below = position.floor
          above = [below + 1, size - 1].min
          low = yield(below)
          low + (yield(above) - low) * (position - below)
        end

        def value_at(counts, index)
          seen = 0
          counts.each { |value, count| return value if (seen += count) > index }
        end
      end
    end
  end
end
