# frozen_string_literal: true

module PumaTuner
  module Report
    # What only a page has: charts, their templates, style and script, and the document that lies in it.
    class Html
      autoload :Bars, "puma_tuner/report/html/bars"
      autoload :ChartPage, "puma_tuner/report/html/chart_page"
      autoload :Curves, "puma_tuner/report/html/curves"
      autoload :Embedded, "puma_tuner/report/html/embedded"
      autoload :FlameGraph, "puma_tuner/report/html/flame_graph"
      autoload :FleetChart, "puma_tuner/report/html/fleet_chart"
      autoload :HeatMap, "puma_tuner/report/html/heat_map"
      autoload :HolderMatrix, "puma_tuner/report/html/holder_matrix"
      autoload :IntervalChart, "puma_tuner/report/html/interval_chart"
      autoload :LatencyChart, "puma_tuner/report/html/latency_chart"
      autoload :LineChart, "puma_tuner/report/html/line_chart"
      autoload :Page, "puma_tuner/report/html/page"
      autoload :RatioChart, "puma_tuner/report/html/ratio_chart"
      autoload :RoundsChart, "puma_tuner/report/html/rounds_chart"
      autoload :RowChart, "puma_tuner/report/html/row_chart"
      autoload :Scale, "puma_tuner/report/html/scale"
      autoload :Symbols, "puma_tuner/report/html/symbols"
      autoload :Templates, "puma_tuner/report/html/templates"
      autoload :TradeoffChart, "puma_tuner/report/html/tradeoff_chart"
    end
  end
end
