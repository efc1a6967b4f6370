# frozen_string_literal: true

module PumaTuner
  module Report
    # What only a page has: charts, their templates, style and script, and the document that lies in it.
    class Html
      autoload :Bars, "puma_tuner/report/html/bars"
      autoload :Curves, "puma_tuner/report/html/curves"
      autoload :Embedded, "puma_tuner/report/html/embedded"
      autoload :FlameGraph, "puma_tuner/report/html/flame_graph"
      autoload :FleetChart, "puma_tuner/report/html/fleet_chart"
      autoload :HeatMap, "puma_tuner/report/html/heat_map"
      autoload :HolderMatrix, "puma_tuner/report/html/holder_matrix"
      autoload :IntervalChart, "puma_tuner/report/html/row_chart"
      autoload :LaneChart, "puma_tuner/report/html/lane_chart"
      autoload :LatencyChart, "puma_tuner/report/html/latency_chart"
      autoload :LineChart, "puma_tuner/report/html/line_chart"
      autoload :LogChart, "puma_tuner/report/html/log_chart"
      autoload :Page, "puma_tuner/report/html/page"
      autoload :RatioChart, "puma_tuner/report/html/ratio_chart"
      autoload :RoundsChart, "puma_tuner/report/html/rounds_chart"
      autoload :RowChart, "puma_tuner/report/html/row_chart"
      autoload :Scale, "puma_tuner/report/html/scale"
      autoload :TradeoffChart, "puma_tuner/report/html/tradeoff_chart"

      # So many symbols can be told apart.
      SYMBOLS_COUNT = 5

      # @param index [Integer] of a variant; the first is the baseline
      # @return [Integer] of `_symbol.html.erb`, the variant's in all charts
      def self.symbol(index) = [index, SYMBOLS_COUNT - 1].min
    end
  end
end
