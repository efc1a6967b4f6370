# frozen_string_literal: true

module PumaTuner
  module Prove
    # Trials -> Verdict: paired ratios with intervals, and what may be said of them.
    #
    # The primary metric was declared beforehand: its interval alone decides, at a level corrected for looks and variants.
    # All others are many, and were not: their intervals are shown at 95 %, but a difference in one of them is said to be
    # shown only when its p-value holds out against their number, after Holm.
    class Judge
      LEVEL_RATIO = 0.95

      # @param variants [Array<Variant>] the first is the baseline
      # @param trials [Array<Trial>] see PairedValues
      # @param primary [String] name of one of the metrics
      # @param looks [Looks] as planned
      # @param equivalent_ratio [Float] see Verdict
      def initialize(variants:, trials:, primary:, looks:, metrics: Metric::SERVED, equivalent_ratio: 0.02)
        @variants = variants
        @baseline, *@others = variants
        @trials = trials
        @values = PairedValues.new(trials, variants.size)
        @metrics = metrics
        @primary = metrics.find { |metric| metric.name == primary } or raise ArgumentError, "#{primary} is none of the metrics"
        @looks = looks
        @equivalent_ratio = equivalent_ratio
      end

      # @param facts [Hash] the remaining fields of Verdict: noise, load, seed, machine, started_at, command, stopped_because,
      #   expectations
      # @return [Verdict]
      def call(**facts)
        Verdict.new(
          baseline: @baseline.name, primary: @primary.name, metrics: @metrics,
          cells: @variants.map { |variant| Cells.of(variant, @values, @metrics) }, comparisons:, trials: @trials,
          rounds_count: @values.rounds_count, voided_count: @values.voided_count, looks: @looks.rounds_counts,
          level_ratio: primary_level_ratio, equivalent_ratio: @equivalent_ratio, **facts
        )
      end

      # @return [Boolean] whether the primary metric says something of every variant, so that rounds may end at a look
      def primary_decided?
        @others.all? do |variant|
          pairs = pairs(variant, @primary)
          @looks.decided?(pairs && Stats::PairedRatio.of(*pairs, level_ratio: primary_level_ratio), @equivalent_ratio)
        end
      end

      private

      def primary_level_ratio = @looks.level_ratio(@others.size)

      def pairs(variant, metric) = @values.pairs(@baseline.name, variant.name, metric.name)

      def comparisons
        drafts = @others.product(@metrics).filter_map { |variant, metric| [metric, draft(variant, metric)] if pairs(variant, metric) }
        adjusted = adjusted_p_values(drafts.filter_map { |metric, comparison| comparison unless metric == @primary })
        drafts.map { |metric, comparison| with_outcome(metric, comparison, adjusted[comparison]) }
      end

      def draft(variant, metric)
        pairs = pairs(variant, metric)
        level_ratio = (metric == @primary) ? primary_level_ratio : LEVEL_RATIO
        Comparison.new(
          variant: variant.name, metric: metric.name, ratio: Stats::PairedRatio.of(*pairs, level_ratio:),
          t_ratio: Stats::StudentRatio.of(*pairs, level_ratio:), p_value: Stats::PairedRatio.p_value(*pairs), adjusted_p_value: nil,
          smallest_effect_ratio: Stats::SmallestEffect.of(sd: Stats::PairedRatio.sd(*pairs), pairs_count: pairs.first.size, level_ratio:),
          predicted_ratio: predicted_ratio(variant, metric), outcome: nil
        )
      end

      # With several looks, the others have as many chances as the primary metric, whose decision they follow.
      def adjusted_p_values(comparisons)
        Stats::Holm.adjust(comparisons.to_h { |comparison| [comparison, comparison.p_value * @looks.rounds_counts.size] })
      end

      def with_outcome(metric, comparison, adjusted_p_value)
        outcome = Outcome.of(comparison.ratio, more_is_better: metric.more_is_better, equivalent_ratio: @equivalent_ratio)
        by_chance = adjusted_p_value && adjusted_p_value > 1 - LEVEL_RATIO && outcome != "equivalent"
        comparison.with(adjusted_p_value:, outcome: by_chance ? "not shown" : outcome)
      end

      def predicted_ratio(variant, metric)
        before, after = [@baseline, variant].map { |one| Cells.predicted(one)[metric.name] }
        after.fdiv(before) if before && after
      end
    end
  end
end
