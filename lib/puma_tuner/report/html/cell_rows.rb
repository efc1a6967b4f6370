# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # What was measured of a variant beside what was predicted of it, metric by metric.
      module CellRows
        Row = Data.define(:label, :measured, :predicted, :error)

        # @param contents [Contents] with a verdict
        # @param cell [Prove::Cell]
        # @return [Array<Row>] of the metrics that somebody predicted
        def self.of(contents, cell)
          contents.metrics.select { |metric| cell.predicted[metric.name] }.map do |metric|
            Row.new(label: metric.label, measured: Figures.estimate(metric, cell.estimates[metric.name]),
              predicted: Figures.number(metric, cell.predicted[metric.name]), error: Figures.error(cell.error_ratio(metric.name)))
          end
        end
      end
    end
  end
end
