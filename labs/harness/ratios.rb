# frozen_string_literal: true

require "forwardable"

module PumaTuner
  module Lab
    # What the rounds of a verdict say of any two of its variants, in one metric. A verdict itself holds all against its
    # baseline, and shares its level among them; a lab's claims name their two variants beforehand, and share theirs
    # among the claims (Claim.family).
    module Ratios
      LEVEL_RATIO = 0.95

      # The ratio in each round, of which an interval can be made at any level.
      # By itself it answers as the estimate at 95% does.
      OfRounds = Data.define(:ratios) do
        extend Forwardable

        def_delegators :estimate, :value, :low, :high, :level_ratio, :samples_count, :covers?

        # @return [Stats::Estimate]
        def estimate = at(LEVEL_RATIO)

        # Exact where there are rounds enough: six reach 95%, eleven 99.9%. Where they reach 95% and not the level,
        # Student's t takes over, which has to believe that log-ratios scatter normally; as single rounds that lie far
        # off may move it to one side, it takes in the widest exact interval, too. The point stays the same.
        #
        # @param level_ratio [Float]
        # @return [Stats::Estimate] its level_ratio is nil of fewer than six rounds
        def at(level_ratio)
          ones = Array.new(ratios.size, 1)
          exact = Stats::PairedRatio.of(ones, ratios, level_ratio:)
          return exact if exact.level_ratio || ratios.size < Prove::PairedValues::PAIRS_MIN
          student = Stats::StudentRatio.of(ones, ratios, level_ratio:)
          exact.with(low: [exact.low, student.low].min, high: [exact.high, student.high].max, level_ratio:)
        end
      end

      module_function

      # @param verdict [Prove::Verdict]
      # @param metric [String] of Prove::Metric
      # @param of [String] name of a variant
      # @param over [String] name of another
      # @return [OfRounds, nil] of the first over the second; nil when no round could tell
      def of(verdict, metric, of:, over:)
        pairs = Prove::PairedValues.new(verdict.trials, verdict.cells.size).pairs(over, of, metric)
        pairs && of_pairs(*pairs)
      end

      # @param baseline_values [Array<Numeric>] above zero, by round
      # @param values [Array<Numeric>] as many
      # @return [OfRounds]
      def of_pairs(baseline_values, values)
        OfRounds.new(ratios: values.zip(baseline_values).map { |value, baseline| value.fdiv(baseline) }.freeze)
      end

      # How many times as fast by CPU time, which a busy machine disturbs least.
      #
      # @return [OfRounds, nil] iterations per second of CPU, of the first over the second
      def speed(verdict, of:, over:) = self.of(verdict, "cpu_per_iteration", of: over, over: of)

      # @return [Stats::Estimate, nil] middle and range of the rounds
      def estimate(verdict, variant, metric)
        verdict.cells.find { |cell| cell.variant == variant }&.estimates&.fetch(metric, nil)
      end
    end
  end
end
