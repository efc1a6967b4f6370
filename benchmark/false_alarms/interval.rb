# frozen_string_literal: true

module FalseAlarms
  # What a method says: the log-ratio is somewhere here.
  Interval = Data.define(:low, :high) do
    # @param level_ratio [Float]
    # @return [Interval] ours: the one that verdicts rest on
    def self.ours(layout, level_ratio: 0.95)
      baseline, variant = [layout.baseline, layout.variant].map { |logs| logs.map { |log| Math.exp(log) } }
      ratio = PumaTuner::Stats::PairedRatio.of(baseline, variant, level_ratio:)
      # Without a level it claims nothing.
      ratio.level_ratio ? new(low: Math.log(ratio.low), high: Math.log(ratio.high)) : new(low: -Float::INFINITY, high: Float::INFINITY)
    end

    def excludes?(log) = !log.between?(low, high)
  end
end
