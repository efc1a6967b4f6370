# frozen_string_literal: true

module PumaTuner
  module Report
    # Today beside the recommended settings, in a few rows: measured where the proof did, otherwise predicted.
    class Glance
      # today, recommended: with their ranges; predicted, measured: ratios; outcome: in words; a dash where there is
      # none
      Row = Data.define(:label, :today, :recommended, :predicted, :measured, :outcome)

      # Of all metrics those that settings are chosen by.
      METRICS = %w[throughput p50 p99 cpu_per_request pss].freeze

      # Metric to a forecast's field, and the advice's of its ratio.
      FORECAST = {"throughput" => %i[throughput_per_s throughput_ratio], "p50" => %i[p50_ns p50_ratio],
                  "p99" => %i[p99_ns p99_ratio]}.freeze

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
        return metrics.filter_map { |metric| measured_row(metric) } if measured?
        predicted? ? metrics.filter_map { |metric| predicted_row(metric) } : []
      end

      private

      def metrics = METRICS.map { |name| Prove::Metric::SERVED.find { |metric| metric.name == name } }

      # The recommended settings have a forecast, or a cell in the proof, only when something is recommended.
      def predicted? = !@contents.stay? && @contents.forecast_today && @contents.forecast_recommended

      def measured_row(metric)
        cells = [@contents.baseline_cell, @contents.recommended_cell]
        today, recommended = cells.map { |cell| cell.estimates[metric.name] }
        return unless today && recommended
        comparison = @contents.verdict.comparison(@contents.recommended_cell.variant, metric.name)
        Row.new(label: metric.label, today: Figures.estimate(metric, today),
          recommended: Figures.estimate(metric, recommended),
          predicted: Units.times(comparison&.predicted_ratio), measured: Figures.ratio(comparison&.ratio),
          outcome: comparison ? Figures.outcome(comparison.outcome) : "-")
      end

      def predicted_row(metric)
        field, ratio = FORECAST[metric.name]
        return unless field
        forecasts = [@contents.forecast_today, @contents.forecast_recommended]
        today, recommended = forecasts.map { |forecast| predicted(metric, forecast, field) }
        Row.new(label: metric.label, today:, recommended:,
          predicted: Figures.ratio(@contents.recommendation.public_send(ratio)), measured: "-", outcome: "-")
      end

      def predicted(metric, forecast, field)
        forecast.steady? ? Figures.estimate(metric, forecast.public_send(field)) : "no steady state"
      end
    end
  end
end
