# frozen_string_literal: true

module PumaTuner
  module Report
    # Today beside the recommended settings, in a few rows: measured where the proof did, otherwise predicted.
    class Glance
      # today, recommended: with their ranges; predicted, measured: ratios; outcome: in words; a dash where there is none
      Row = Data.define(:label, :today, :recommended, :predicted, :measured, :outcome)

      # Label, a cell's and a forecast's field, and how its number is read.
      METRICS = {
        "throughput" => ["requests/s", :throughput_per_s, ->(number) { Units.rate(number) }],
        "p50" => ["p50", :p50_ns, ->(number) { Units.duration(number) }],
        "p99" => ["p99", :p99_ns, ->(number) { Units.duration(number) }],
        "cpu_per_request" => ["CPU per request", :cpu_per_request_ns, ->(number) { Units.duration(number) }],
        "memory" => ["memory (PSS)", :pss_bytes, ->(number) { Units.mebibytes(number) }]
      }.freeze

      # @param contents [Contents]
      def initialize(contents)
        @contents = contents
      end

      # @return [Boolean]
      def measured? = !!(@contents.baseline_cell && @contents.recommended_cell)

      # @return [Array<String>] the first two columns' names
      def headings
        return ["today (#{@contents.today})", "recommended (#{@contents.recommendation.topology})"] unless measured?
        [@contents.baseline_cell, @contents.recommended_cell].map { |cell| Figures.variant(cell) }
      end

      # @return [Array<Row>] empty when there is nothing to set side by side
      def rows
        return [] unless measured? || predicted?
        METRICS.filter_map do |metric, (label, field, words)|
          measured? ? measured_row(metric, label, field, words) : predicted_row(metric, label, field, words)
        end
      end

      private

      # The recommended settings have a forecast, or a cell in the proof, only when something is recommended.
      def predicted? = !@contents.stay? && @contents.forecast_today && @contents.forecast_recommended

      def measured_row(metric, label, field, words)
        today, recommended = [@contents.baseline_cell, @contents.recommended_cell].map { |cell| cell.public_send(field) }
        return unless today && recommended
        comparison = @contents.verdict.comparison(@contents.recommended_cell.variant, metric)
        Row.new(label:, today: Figures.with_range(today, &words), recommended: Figures.with_range(recommended, &words),
          predicted: Units.times(comparison&.predicted_ratio), measured: Figures.ratio(comparison&.ratio),
          outcome: comparison ? Figures::OUTCOMES.fetch(comparison.outcome, comparison.outcome) : "-")
      end

      def predicted_row(metric, label, field, words)
        today, recommended = [@contents.forecast_today, @contents.forecast_recommended].map do |forecast|
          forecast.public_send(field) if forecast.respond_to?(field)
        end
        return unless today && recommended
        ratio = @contents.recommendation.public_send((metric == "throughput") ? :throughput_ratio : :"#{metric}_ratio")
        Row.new(label:, today: Figures.with_range(today, &words), recommended: Figures.with_range(recommended, &words),
          predicted: Figures.ratio(ratio), measured: "-", outcome: "-")
      end
    end
  end
end
