# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # What was measured of a variant beside what was predicted of it, metric by metric.
      module CellRows
        Row = Data.define(:label, :measured, :predicted, :error)

        # Label, the cell's field, and how its number is read.
        METRICS = {
          throughput: ["requests/s", :throughput_per_s, ->(number) { Units.rate(number) }],
          p50: ["p50", :p50_ns, ->(number) { Units.duration(number) }],
          p99: ["p99", :p99_ns, ->(number) { Units.duration(number) }],
          cpu_per_request: ["CPU per request", :cpu_per_request_ns, ->(number) { Units.duration(number) }],
          memory: ["memory (PSS)", :pss_bytes, ->(number) { Units.mebibytes(number) }]
        }.freeze

        # @param cell [Prove::Cell]
        # @return [Array<Row>]
        def self.of(cell)
          METRICS.map do |metric, (label, field, words)|
            predicted = cell.public_send(:"predicted_#{field}") if cell.respond_to?(:"predicted_#{field}")
            Row.new(label:, measured: Figures.with_range(cell.public_send(field), &words),
              predicted: predicted ? words.call(predicted) : "-", error: predicted ? Figures.error(Figures.error_ratio(cell, metric)) : "-")
          end
        end
      end
    end
  end
end
