# frozen_string_literal: true

module PumaTuner
  module Report
    # How to read the rows of all comparisons of a proof, in sentences.
    class ComparisonNotes
      # Below that, a difference in one of the other metrics is shown.
      SHOWN_P_VALUE = 0.05

      # @param verdict [Prove::Verdict]
      # @return [String] why there is no interval, nor anything shown
      def self.too_few(verdict)
        level_ratio = verdict.level_ratio || 0.95
        least = (1..).find { |count| Stats::PairedRatio.rank_and_level(count, level_ratio).last }
        "So few rounds show nothing: an interval of #{Units.percent(level_ratio)} takes #{least}."
      end

      # @param contents [Contents] with a verdict
      def initialize(contents)
        @contents = contents
        @comparisons = contents.verdict.comparisons
      end

      # @return [Array<String>] none where nothing was compared
      def all
        return [] if @comparisons.empty?
        [few || interval, *least, *adjusted, *spikes]
      end

      private

      def few
        return if @comparisons.any? { |comparison| comparison.ratio.level_ratio }
        "Ratio: variant over #{@contents.verdict.baseline}, with the range of the rounds. #{self.class.too_few(@contents.verdict)}"
      end

      def interval
        predicted = ", which the prediction is inside or outside of" if @comparisons.any?(&:predicted_ratio)
        "Ratio: variant over #{@contents.verdict.baseline}, with #{levels} over paired rounds#{predicted}."
      end

      # Where it may decide at several looks, the primary metric has a level of its own.
      def levels
        primary, others = @comparisons.partition { |comparison| comparison.metric == @contents.verdict.primary }
          .map { |some| some.map { |comparison| Figures.level(comparison.ratio) }.uniq }
        return "the #{Figures.list(primary | others)}" if primary == others || primary.empty? || others.empty?
        "the #{Figures.list(primary)} (#{@contents.primary.label}) and the #{Figures.list(others)} (all others)"
      end

      def least
        return unless @comparisons.any?(&:smallest_effect_ratio)
        ["Shows from: the smallest change that so many rounds, as noisy as these, show 8 times in 10."]
      end

      def adjusted
        others = @comparisons.select(&:adjusted_p_value)
        return if others.empty?
        ["The primary metric was declared beforehand; the outcomes of the others are adjusted for being many (Holm).", *enough_for(others)]
      end

      # The smallest p-value of n pairs is that of all on one side.
      def enough_for(others)
        chances_count = others.size * [@contents.verdict.looks.to_a.size, 1].max
        least = (1..).find { |count| 2.0**(1 - count) * chances_count <= SHOWN_P_VALUE }
        return unless others.all? { |comparison| comparison.ratio.samples_count < least }
        ["Of so many, it takes #{least} rounds to show anything."]
      end

      def spikes
        return unless @comparisons.any? { |comparison| comparison.agreed? == false }
        ["Where Student's t disagrees, single rounds were far from the others (spikes); ranks, which decide, mind them less."]
      end
    end
  end
end
