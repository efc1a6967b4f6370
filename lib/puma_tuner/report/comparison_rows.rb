# frozen_string_literal: true

module PumaTuner
  module Report
    # One variant against the baseline, a row for each metric, the primary one first: the same in every format.
    class ComparisonRows
      # predicted: "1.68x, inside", a dash without a forecast
      # outcome: as in the verdict, nil where nothing was compared; words: the same in words
      Row = Data.define(:metric, :primary, :comparison, :ratio, :predicted, :outcome, :words) do
        # @return [String]
        def label = primary ? "#{metric.label} (primary)" : metric.label
      end

      # @param contents [Contents] with a verdict
      # @param cell [Prove::Cell]
      def initialize(contents, cell)
        @contents = contents
        @verdict = contents.verdict
        @cell = cell
        @finding = @verdict.findings.find { |finding| finding.variant == cell.variant }
      end

      # @return [Array<Row>] what was measured, compared or not
      def rows
        @rows ||= @contents.metrics.filter_map do |metric|
          comparison = @verdict.comparison(@cell.variant, metric.name)
          row(metric, comparison) if comparison || @cell.estimates[metric.name]
        end
      end

      # @return [Boolean] whether there was any forecast to hold against
      def predicted? = compared.any?(&:predicted_ratio)

      # @return [Array<String>] what is to be said of these rows alone
      def notes
        return ["Nothing could be compared."] if compared.empty?
        [*by_chance, *disagreements]
      end

      private

      def compared = rows.filter_map(&:comparison)

      def label(comparison) = @contents.metric(comparison.metric).label

      # One in twenty intervals is clear of 1 by chance, and there are many.
      def by_chance
        clear = compared.select { |comparison| @finding.by_chance.include?(comparison.metric) }
        return if clear.empty?
        p_values = clear.filter_map(&:adjusted_p_value).map { |p_value| format("%.2f", p_value) }
        adjusted = " (adjusted p #{p_values.minmax.uniq.join("–")})" if p_values.any?
        ["Not shown although the interval excludes 1: #{Figures.list(clear.map { |one| label(one) })}. With this " \
          "many metrics, one may do so by chance#{adjusted}."]
      end

      # Both are told, as one of them may be what people expect.
      def disagreements
        compared.select { |comparison| @finding.disagreeing.include?(comparison.metric) }.map do |comparison|
          "#{label(comparison)}: by Student's t #{Figures.ratio(comparison.t_ratio)}, which " \
            "#{comparison.t_ratio.covers?(1) ? "covers 1" : "does not cover 1"}."
        end
      end

      def row(metric, comparison)
        outcome = comparison&.outcome
        predicted = [Units.times(comparison&.predicted_ratio), *Prove::Finding.prediction(comparison)].join(", ")
        Row.new(metric:, primary: metric.name == @verdict.primary, comparison:, ratio: Figures.ratio(comparison&.ratio),
          predicted:, outcome:, words: outcome ? Figures.outcome(outcome) : "not compared")
      end
    end
  end
end
