# frozen_string_literal: true

module PumaTuner
  module Prove
    # Trials -> Verdict: paired ratios with intervals, and what may be said of them.
    #
    # The primary metric was declared beforehand: its interval alone decides, at a level corrected for looks and
    # variants. All others are many, and were not: their intervals are shown at 95%, or where there are several looks
    # at what each of them has of it, and a difference in one of them is said to be shown only when its p-value holds
    # out against their number, after Holm. What fails clearly more than the baseline is neither better nor equivalent.
    class Judge
      LEVEL_RATIO = 0.95

      # A variant that fails in more of the attempts than this, and more than the baseline, fails clearly more.
      FAILED_SHARE_MAX = 0.2

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
        @primary = metrics.find { |metric| metric.name == primary } or
          raise ArgumentError, "#{primary} is none of the metrics"
        @looks = looks
        @equivalent_ratio = equivalent_ratio
      end

      # @param facts [Hash] the remaining fields of Verdict: noise, load, seed, machine, started_at, command,
      #   stopped_because, expectations
      # @return [Verdict]
      def call(**facts)
        Verdict.new(
          baseline: @baseline.name, primary: @primary.name, metrics: @metrics,
          cells: @variants.map { |variant| Cells.of(variant, @values, @metrics) }, comparisons:, trials: @trials,
          rounds_count: @values.rounds_count, voided_count: @values.voided_count, failures:,
          looks: @looks.rounds_counts,
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

      # @param rounds_count [Integer]
      # @return [Array<Float>] of each variant, the minimum detectable effect on the primary metric after that many
      #   rounds, scattered as these are; without those of which nothing is known
      def minimum_detectable_effects(rounds_count)
        @others.filter_map do |variant|
          pairs = pairs(variant, @primary)
          Stats::MinimumDetectableEffect.of(sd: pairs && Stats::PairedRatio.sd(*pairs), pairs_count: rounds_count,
            level_ratio: primary_level_ratio)
        end
      end

      # How many rounds it takes until each of these metrics' intervals is narrow enough, by the scatter of the rounds
      # so far; wherever they lie.
      #
      # @param metric_names [Array<String>]
      # @param half_width_ratio [Float] see Stats::PairsWanted
      # @return [Integer, nil] nil where nothing could be told
      def rounds_wanted(metric_names, half_width_ratio)
        metrics = @metrics.select { |metric| metric_names.include?(metric.name) }
        @others.product(metrics).filter_map { |variant, metric|
          pairs = pairs(variant, metric)
          sd = pairs && Stats::PairedRatio.sd(*pairs)
          next unless sd
          Stats::PairsWanted.of(sd:, first_count: pairs.first.size, half_width_ratio:, level_ratio: level_ratio(metric))
        }.max
      end

      private

      # The interval of the primary metric, at each look and for each variant.
      def primary_level_ratio = @looks.level_ratio(@others.size)

      def level_ratio(metric) = (metric == @primary) ? primary_level_ratio : @looks.level_ratio

      def pairs(variant, metric) = @values.pairs(@baseline.name, variant.name, metric.name)

      def comparisons
        drafts = @others.product(@metrics).filter_map do |variant, metric|
          [metric, draft(variant, metric)] if pairs(variant, metric)
        end
        adjusted = adjusted_p_values(drafts.filter_map { |metric, comparison| comparison unless metric == @primary })
        drafts.map { |metric, comparison| with_outcome(metric, comparison, adjusted[comparison]) }
      end

      def draft(variant, metric)
        pairs = pairs(variant, metric)
        level_ratio = level_ratio(metric)
        Comparison.new(
          variant: variant.name, metric: metric.name, ratio: Stats::PairedRatio.of(*pairs, level_ratio:),
          t_ratio: Stats::StudentRatio.of(*pairs, level_ratio:), p_value: Stats::PairedRatio.p_value(*pairs),
          adjusted_p_value: nil,
          mde_ratio: Stats::MinimumDetectableEffect.of(sd: Stats::PairedRatio.sd(*pairs),
            pairs_count: pairs.first.size, level_ratio:),
          predicted_ratio: predicted_ratio(variant, metric), outcome: nil
        )
      end

      # With several looks, the others have as many chances as the primary metric, whose decision they follow.
      def adjusted_p_values(comparisons)
        looks_count = @looks.rounds_counts.size
        Stats::Holm.adjust(comparisons.to_h { |comparison| [comparison, comparison.p_value * looks_count] })
      end

      def with_outcome(metric, comparison, adjusted_p_value)
        outcome = Outcome.of(comparison.ratio, more_is_better: metric.more_is_better,
          equivalent_ratio: @equivalent_ratio)
        by_chance = adjusted_p_value && adjusted_p_value > 1 - LEVEL_RATIO && outcome != :equivalent
        failing = outcome != :worse &&
          failures.any? { |failure| failure.variant == comparison.variant && failure.clearly_more }
        comparison.with(adjusted_p_value:, outcome: (by_chance || failing) ? :not_shown : outcome)
      end

      def failures
        @failures ||= @variants.filter_map do |variant|
          failed = attempts.select { |attempt| failed?(attempt, variant) }
          next if failed.empty?
          reason = failed.last.find { |trial| trial.variant == variant.name }.void.detail
          Failure.new(variant: variant.name, attempts_count: failed.size, all_count: attempts.size, reason:,
            clearly_more: clearly_more?(variant))
        end
      end

      def attempts = @attempts ||= @trials.each_slice(@variants.size).to_a

      def failed?(attempt, variant)
        attempt.any? { |trial| trial.variant == variant.name && trial.void&.kind == :failed }
      end

      # Tells whether, in the attempts in which one of the two failed, it was this one more often than a fair coin would
      # have it (McNemar, "Note on the sampling error of the difference between correlated proportions", 1947; exact,
      # one-sided).
      def clearly_more?(variant)
        return false if variant == @baseline
        own, baselines = [variant, @baseline].map do |one|
          attempts.count do |attempt|
            failed?(attempt, one) && !failed?(attempt, (one == variant) ? @baseline : variant)
          end
        end
        return false if own <= baselines
        p_value = (own..own + baselines).sum { |count| binomial(own + baselines, count) }.fdiv(2**(own + baselines))
        p_value <= 1 - LEVEL_RATIO || own.fdiv(attempts.size) > FAILED_SHARE_MAX
      end

      def binomial(count, chosen) = (1..chosen).inject(1) { |product, step| product * (count - step + 1) / step }

      def predicted_ratio(variant, metric)
        before, after = [@baseline, variant].map { |one| Cells.predicted(one)[metric.name] }
        after.fdiv(before) if before && after
      end
    end
  end
end
