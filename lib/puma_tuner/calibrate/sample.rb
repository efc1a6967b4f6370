# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Several measurements of one thing, in nanoseconds. The median stands for them: a neighbour on the machine only
    # ever makes some of them longer.
    Sample = Data.define(:values_ns) do
      # @raise [InvalidMeasurement] when there is none
      def initialize(values_ns:)
        if values_ns.empty?
          raise InvalidMeasurement, "a probe gave no figures. The machine may be too busy; " \
            "run it again when it is quiet."
        end
        super(values_ns: values_ns.sort.freeze)
      end

      # @return [Integer]
      def median_ns = quantile_ns(0.5)

      # @param ratio [Float]
      # @return [Integer]
      def quantile_ns(ratio) = Stats::Quantile.of(values_ns, ratio).round

      # @param count [Integer]
      # @return [Array<Integer>] so many values, ascending, each the mean of its
      #   part: the rare long ones weigh what they did
      def thinned(count)
        return values_ns if values_ns.size <= count
        size = values_ns.size
        Array.new(count) do |index|
          values_ns[(index * size / count)...((index + 1) * size / count)].then { |part| part.sum / part.size }
        end
      end

      # @return [String] "10.1 ms (10.1 ms to 10.2 ms, 8 samples)"
      def to_s
        return Units.duration(median_ns) if values_ns.size == 1
        "#{Units.duration(median_ns)} (#{Units.duration(values_ns.first)} to #{Units.duration(values_ns.last)}, " \
          "#{values_ns.size} samples)"
      end
    end
  end
end
