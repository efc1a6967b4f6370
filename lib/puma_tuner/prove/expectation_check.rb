# frozen_string_literal: true

module PumaTuner
  module Prove
    # One expectation, held against a verdict. What is only likely is not shown: the whole interval must be where it is
    # expected.
    class ExpectationCheck
      # @param wanted [Expectations::Wanted]
      # @param verdict [Verdict]
      def initialize(wanted, verdict)
        @wanted = wanted
        @verdict = verdict
        @metric = verdict.metrics.find { |metric| metric.name == wanted.metric }
      end

      # @param variant [String]
      # @return [Statement, nil] why it is not shown of that variant; nil when it is
      def objection(variant)
        failure = @verdict.failing(variant)
        if failure && @wanted.claim != :worse
          return Statement.of(:variant_failed, **failure.to_h.slice(:attempts_count, :all_count, :reason))
        end
        return goal_missed(variant) if @wanted.claim == :goal
        comparison = @verdict.comparison(variant, @wanted.metric)
        return untold(variant) unless comparison
        ratio = comparison.ratio
        return Statement.of(:no_interval, rounds_count: ratio.samples_count) unless ratio.level_ratio
        elsewhere(comparison) unless holds?(comparison)
      end

      private

      # The rounds' values over the limit are judged as pairs are: their whole interval must be below it.
      def goal_missed(variant)
        values = trials(variant).map { |trial| trial.values[@wanted.metric] }
        return untold(variant) if values.empty? || values.include?(nil)
        ratio = Stats::PairedRatio.of([@wanted.limit_ns] * values.size, values,
          level_ratio: @verdict.level_ratio)
        return Statement.of(:no_interval, rounds_count: values.size) unless ratio.level_ratio
        return if ratio.high < 1
        Statement.of(:goal_missed, metric: @wanted.metric, level_ratio: ratio.level_ratio,
          latency_ns: [ratio.value, ratio.low, ratio.high].map { |one| one * @wanted.limit_ns })
      end

      def trials(variant) = @verdict.valid_trials.select { |trial| trial.variant == variant }

      def untold(variant)
        least_count = @metric&.least_requests_count.to_i
        requests_count = [variant, @verdict.baseline].flat_map { |name| trials(name) }.map(&:requests_count).min
        if requests_count.nil? || requests_count >= least_count
          return Statement.of(:not_compared, metric: @wanted.metric, variant:)
        end
        Statement.of(:few_requests, metric: @metric.label, least_count:, requests_count:)
      end

      def holds?(comparison)
        ratio = comparison.ratio
        case @wanted.claim
        when :at_least then ratio.low >= @wanted.ratio
        when :at_most then ratio.high <= @wanted.ratio
        when :not_worse then not_worse?(ratio)
        else comparison.outcome == @wanted.claim
        end
      end

      # Worse by less than what counts as equivalent is not worse.
      def not_worse?(ratio)
        if @metric.more_is_better
          ratio.low >= 1 - @verdict.equivalent_ratio
        else
          ratio.high <= 1 + @verdict.equivalent_ratio
        end
      end

      def elsewhere(comparison)
        ratio = comparison.ratio
        outcome = comparison.outcome.to_s if %i[better worse equivalent].include?(@wanted.claim)
        Statement.of(:elsewhere, interval: [ratio.low, ratio.high], level_ratio: ratio.level_ratio, outcome:,
          adjusted_p_value: (comparison.adjusted_p_value if outcome && by_chance?(comparison)))
      end

      # An interval clear of 1 that shows nothing begs the question why.
      def by_chance?(comparison) = comparison.outcome == :not_shown && !comparison.ratio.covers?(1)
    end
  end
end
