# frozen_string_literal: true

module PumaTuner
  module Report
    # One file for a browser: style, script, charts and the document itself are inside, and nothing is fetched. It can be
    # read without its script, printed, and kept as the record of what was measured.
    class Html
      KINDS = %i[observation sweep advice_list verdict tuning profile profile_diff tradeoff fleet].freeze

      autoload :Bars, "puma_tuner/report/html/bars"
      autoload :CellRows, "puma_tuner/report/html/cell_rows"
      autoload :CostDiffPage, "puma_tuner/report/html/cost_diff_page"
      autoload :Curves, "puma_tuner/report/html/curves"
      autoload :Embedded, "puma_tuner/report/html/embedded"
      autoload :FlameGraph, "puma_tuner/report/html/flame_graph"
      autoload :FleetChart, "puma_tuner/report/html/fleet_chart"
      autoload :FleetPage, "puma_tuner/report/html/fleet_page"
      autoload :ForecastView, "puma_tuner/report/html/forecast_view"
      autoload :HeatMap, "puma_tuner/report/html/heat_map"
      autoload :HolderMatrix, "puma_tuner/report/html/holder_matrix"
      autoload :IntervalChart, "puma_tuner/report/html/interval_chart"
      autoload :LatencyChart, "puma_tuner/report/html/latency_chart"
      autoload :LineChart, "puma_tuner/report/html/line_chart"
      autoload :Page, "puma_tuner/report/html/page"
      autoload :ProfilePage, "puma_tuner/report/html/profile_page"
      autoload :ProofView, "puma_tuner/report/html/proof_view"
      autoload :RatioChart, "puma_tuner/report/html/ratio_chart"
      autoload :RoundsChart, "puma_tuner/report/html/rounds_chart"
      autoload :RowChart, "puma_tuner/report/html/row_chart"
      autoload :Scale, "puma_tuner/report/html/scale"
      autoload :Symbols, "puma_tuner/report/html/symbols"
      autoload :Templates, "puma_tuner/report/html/templates"
      autoload :TradeoffChart, "puma_tuner/report/html/tradeoff_chart"
      autoload :TradeoffPage, "puma_tuner/report/html/tradeoff_page"
      autoload :View, "puma_tuner/report/html/view"
      autoload :WorkFigure, "puma_tuner/report/html/work_figure"

      # Pages of their own, by the kind of document; all others are a tuning's, or one part of it.
      PAGES = {
        profile: :ProfilePage,
        profile_diff: :CostDiffPage,
        tradeoff: :TradeoffPage,
        fleet: :FleetPage
      }.freeze

      # @return [String]
      def call(value) = Html.const_get(PAGES.fetch(value.class::KIND, :View)).new(value).page
    end
  end
end
