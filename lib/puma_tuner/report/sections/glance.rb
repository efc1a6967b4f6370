# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Today beside the recommended settings, in a few rows: measured where the proof did, otherwise predicted.
      class Glance < Base
        # Of all metrics those that settings are chosen by.
        METRICS = %w[throughput p50 p99 cpu_per_request pss].freeze

        # Metric to a forecast's field, and the advice's of its ratio.
        FORECAST = {"throughput" => %i[throughput_per_s throughput_ratio], "p50" => %i[p50_ns p50_ratio],
                    "p99" => %i[p99_ns p99_ratio]}.freeze
        private_constant :METRICS, :FORECAST

        # @param contents [Contents]
        def initialize(contents)
          @contents = contents
        end

        # @return [Blocks::Table, nil] nil when there is nothing to set side by side
        def table
          rows = METRICS.map { |name| Prove::Metric::SERVED.find { |metric| metric.name == name } }
            .filter_map { |metric| measured? ? measured(metric) : predicted(metric) }
          return if rows.empty?
          columns = [Column.new(""), *names.map { |name| Column.new(name, :figure) },
            Column.new("predicted ratio", :ratio),
            *([Column.new("measured ratio", :ratio), Column.new("outcome", :outcome)] if measured?)]
          Table.new(columns, rows, style: "glance", caption: "Today beside the recommended settings, #{caption}")
        end

        private

        def measured? = !!(@contents.baseline_cell && @contents.recommended_cell)

        # The recommended settings have a forecast, or a cell in the proof, only when something is recommended.
        def predicted? = !@contents.stay? && @contents.forecast_today && @contents.forecast_recommended

        def names
          return ["today (#{@contents.today})", "recommended (#{@contents.recommendation.topology})"] unless measured?
          [@contents.baseline_cell, @contents.recommended_cell].map { |cell| Figures.variant(cell) }
        end

        def caption
          return "measured in the proof (middle and range of the rounds)" if measured?
          "predicted (middle and #{SweepNotes.new(@contents.sweep).interval_word} of the simulations)"
        end

        def measured(metric)
          cells = [@contents.baseline_cell, @contents.recommended_cell]
          estimates = cells.map { |cell| cell.estimates[metric.name] }
          return unless estimates.all?
          comparison = @contents.verdict.comparison(@contents.recommended_cell.variant, metric.name)
          Row.new([metric.label, *estimates.map { |estimate| Cell.new(estimate, kind: metric) },
            Units.times(comparison&.predicted_ratio), comparison&.ratio,
            comparison && Cell.new(comparison.outcome, style: comparison.outcome)])
        end

        def predicted(metric)
          field, ratio = FORECAST[metric.name]
          return unless field && predicted?
          told = [@contents.forecast_today, @contents.forecast_recommended].map do |forecast|
            forecast.steady? ? Cell.new(forecast.public_send(field), kind: metric) : "no steady state"
          end
          Row.new([metric.label, *told, @contents.recommendation.public_send(ratio)])
        end
      end
    end
  end
end
