# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # The page with a lab's charts in it.
      class ChartPage < Report::Html::Page
        # Beside the style of all pages.
        STYLE = <<~CSS
          .claims th[scope=row], .claims td { white-space: normal; font-weight: 400; }
          .claims th[scope=row] { min-width: 9rem; }
          .findings { margin: 1.2rem 0; padding-left: 1.1rem; max-width: 46rem; }
          .findings li { margin: .35rem 0; }
        CSS

        # @return [String] CSS
        def stylesheet = super + STYLE

        # @return [String] the finding as JSON, its verdicts as short as those of other pages
        def embedded_document
          embedded = Report::Html::Embedded
          short = @value.verdicts.transform_values { |verdict| embedded.without_recorded_requests(verdict) }
          embedded.json(@value.with(verdicts: short))
        end
      end

      # The writer that knows a lab's charts.
      class Html < Report::Writers::Html
        CHART_PAGE = ChartPage

        CHARTS = Report::Writers::Html::CHARTS
          .merge(finding: [:line_chart, ->(finding) { finding.charts.map { |chart| FindingChart.of(chart) } }]).freeze
      end
    end
  end
end
