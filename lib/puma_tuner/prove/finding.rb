# frozen_string_literal: true

module PumaTuner
  module Prove
    # The finding of the rounds about one variant. It follows from a verdict, and stands in its JSON for programs.
    #
    # outcome: in the primary metric, as in Comparison; nil where nothing was compared
    # failing: whether it fails clearly more than the baseline, so that nothing good may be said of it
    # same_settings: whether it is the baseline once more, which tells the noise
    # prediction: :inside the interval, :outside of it, or nil without a forecast
    # others: {outcome => names of the other metrics}
    # by_chance: metrics whose interval is clear of 1 though nothing is shown, as one of so many may be by chance
    # disagreeing: metrics in which Student's t says something else of 1
    Finding = Document.define(:variant, :outcome, :failing, :same_settings, :prediction, :others, :by_chance,
      :disagreeing, symbols: %i[outcome prediction])

    class Finding
      class << self
        # @param verdict [Verdict]
        # @return [Array<Finding>] of each variant but the baseline
        def of(verdict) = verdict.other_cells.map { |cell| of_cell(verdict, cell) }

        # @param comparison [Comparison, nil]
        # @return [Symbol, nil] where the forecast lies; nil when there was none
        def prediction(comparison)
          return unless comparison&.predicted_ratio
          comparison.ratio.covers?(comparison.predicted_ratio) ? :inside : :outside
        end

        private

        def of_cell(verdict, cell)
          all = verdict.comparisons.select { |comparison| comparison.variant == cell.variant }
          primary, others = all.partition { |comparison| comparison.metric == verdict.primary }
          new(variant: cell.variant, outcome: primary.first&.outcome, failing: !verdict.failing(cell.variant).nil?,
            same_settings: same?(verdict.baseline_cell, cell), prediction: prediction(primary.first),
            others: others.group_by(&:outcome).transform_values { |some| some.map(&:metric) },
            by_chance: all.select { |comparison| by_chance?(comparison) }.map(&:metric),
            disagreeing: all.select { |comparison| comparison.agreed? == false }.map(&:metric))
        end

        def same?(baseline, cell) = [baseline, cell].map { |one| [one&.factors, one&.topology] }.uniq.one?

        def by_chance?(comparison)
          comparison.outcome == :not_shown && comparison.ratio.level_ratio && !comparison.ratio.covers?(1)
        end
      end
    end

    # The numbers of rounds that it takes to show anything at all.
    #
    # interval_count: for an interval of the primary metric's level, level_ratio
    # others_count: for a difference in any of the other metrics, as many as they are; nil without others
    # intervals: whether there is any interval; others_enough: whether these rounds are enough for one of the others
    RoundsNeeded = Document.define(:level_ratio, :interval_count, :others_count, :intervals, :others_enough)

    class RoundsNeeded
      # @param verdict [Verdict]
      # @return [RoundsNeeded]
      def self.of(verdict)
        level_ratio = verdict.level_ratio || Judge::LEVEL_RATIO
        others = verdict.comparisons.select(&:adjusted_p_value)
        # A p-value and an interval at the same level take as many. By Holm, the first of the others to be shown has an
        # equal share of the error, as each variant has.
        others_count = Looks.fixed(1).least_rounds_count(others.size * [verdict.looks.to_a.size, 1].max) if others.any?
        new(level_ratio:, interval_count: Stats::PairedRatio.least_pairs_count(level_ratio), others_count:,
          intervals: verdict.comparisons.any? { |comparison| comparison.ratio.level_ratio },
          others_enough: others.any? { |comparison| comparison.ratio.samples_count >= others_count })
      end
    end
  end
end
