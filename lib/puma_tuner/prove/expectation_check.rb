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
      # @return [String, nil] why it is not shown of that variant; nil when it is
      def objection(variant)
        failure = @verdict.failing(variant)
        if failure && @wanted.claim != :worse
          return "it failed in #{failure.attempts_count} of #{failure.all_count} rounds: #{failure.reason}"
        end
        comparison = @verdict.comparison(variant, @wanted.metric)
        return "#{@wanted.metric} of #{variant} could not be compared" unless comparison
        unless comparison.ratio.level_ratio
          return "#{comparison.ratio.samples_count} rounds are too few for an interval"
        end
        interval_in_words(comparison) unless holds?(comparison)
      end

      private

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

      def interval_in_words(comparison)
        ratio = comparison.ratio
        interval = format("the %.0f%% interval is %.3f to %.3f", (ratio.level_ratio * 100).floor, ratio.low, ratio.high)
        return interval unless %i[better worse equivalent].include?(@wanted.claim)
        "#{(comparison.outcome == :not_shown) ? "no difference is shown" : "it is #{comparison.outcome}"}; " \
          "#{interval}#{by_chance(comparison)}"
      end

      # An interval clear of 1 that shows nothing begs the question why.
      def by_chance(comparison)
        return if comparison.outcome != :not_shown || comparison.ratio.covers?(1)
        format(", but of so many metrics one may be that by chance (adjusted p %.2f)", comparison.adjusted_p_value)
      end
    end
  end
end
