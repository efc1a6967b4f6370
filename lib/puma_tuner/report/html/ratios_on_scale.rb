# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # What charts of ratios have in common besides: the line is logarithmic, and 1 is on it.
      module RatiosOnScale
        include RowsOnScale

        # @return [Float] where nothing would have changed
        def one = @scale.place(1)

        private

        # @param ratios [Array<Numeric, nil>] to be covered
        def scale_of_ratios(ratios) = scale_over([*ratios.compact, 1], logarithmic: true)

        def tick_name(ratio) = "#{ratio}x"
      end
    end
  end
end
