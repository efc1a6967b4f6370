# frozen_string_literal: true

module PumaTuner
  module Lab
    # What the rounds of a verdict say of any two of its variants, in one metric. A verdict itself holds all against its
    # baseline, and shares its level among them; a lab's claims name their two variants beforehand.
    module Ratios
      LEVEL_RATIO = 0.95

      module_function

      # @param verdict [Prove::Verdict]
      # @param metric [String] of Prove::Metric
      # @param of [String] name of a variant
      # @param over [String] name of another
      # @return [Stats::Estimate, nil] of the first over the second, at 95 %; nil when no round could tell
      def of(verdict, metric, of:, over:)
        verdict.ratio(metric, of:, over:, level_ratio: LEVEL_RATIO)
      end

      # How many times as fast by CPU time, which a busy machine disturbs least.
      #
      # @return [Stats::Estimate, nil] iterations per second of CPU, of the first over the second
      def speed(verdict, of:, over:) = self.of(verdict, "cpu_per_iteration", of: over, over: of)

      # @return [Stats::Estimate, nil] middle and range of the rounds
      def estimate(verdict, variant, metric) = verdict.cells.find { |cell| cell.variant == variant }&.estimates&.fetch(metric, nil)
    end
  end
end
