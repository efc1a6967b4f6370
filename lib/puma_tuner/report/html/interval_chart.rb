# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Ratios with their intervals, on a logarithmic line around 1.
      class IntervalChart < RowChart
        # @return [Float] where nothing would have changed
        def one = @scale.place(1)

        private

        # @param ratios [Array<Numeric, Stats::Estimate, nil>] to be covered
        def scale_of(ratios)
          numbers = ratios.compact.flat_map { |ratio| ratio.is_a?(Numeric) ? ratio : [ratio.low, ratio.high] }
          scale_over([*numbers, 1], logarithmic: true) if numbers.any?
        end

        # @param estimate [Stats::Estimate]
        # @param other [Numeric, nil] what is held against it
        def marks(estimate, other)
          low, value, high = [estimate.low, estimate.value, estimate.high].map { |ratio| @scale.place(ratio) }
          [Interval.new(low:, value:, high:), *(Diamond.new(x: @scale.place(other)) if other)]
        end

        def tick_name(ratio) = "#{ratio}x"
      end
    end
  end
end
