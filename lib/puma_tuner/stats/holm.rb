# frozen_string_literal: true

module PumaTuner
  module Stats
    # Several tests at once: p-values raised so that all of them together call a false
    # alarm no more often than one would, however they hang together. Step-down, after
    # Holm, "A simple sequentially rejective multiple test procedure" (1979).
    module Holm
      # @param p_values [Hash{Object => Float}] by name
      # @return [Hash{Object => Float}] adjusted, same names, same order
      def self.adjust(p_values)
        least = 0.0
        adjusted = p_values.sort_by(&:last).each_with_index.to_h do |(name, p_value), index|
          least = [least, p_value * (p_values.size - index)].max.clamp(0.0, 1.0)
          [name, least]
        end
        p_values.to_h { |name, _| [name, adjusted[name]] }
      end
    end
  end
end
