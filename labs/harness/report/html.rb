# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # One file for a browser.
      class Html
        # @return [String]
        def call(finding) = Page.new(finding).page
      end

      # The page of a lab's finding.
      class Page < Report::Html::Page
        Report::Html::Templates.each_in(__dir__, without_argument: %w[finding]) { |source, path| module_eval(source, path, 0) } # standard:disable Style/EvalWithLocation

        # Beside the style of all pages.
        STYLE = <<~CSS
          .claims th[scope=row], .claims td { white-space: normal; font-weight: 400; }
          .claims th[scope=row] { min-width: 9rem; }
          .findings { margin: 1.2rem 0; padding-left: 1.1rem; max-width: 46rem; }
          .findings li { margin: .35rem 0; }
        CSS

        # @return [Lab::Finding]
        def finding = @value

        # @return [String]
        def title = finding.title

        # @return [String]
        def content_html = finding_html

        # @return [String] CSS
        def stylesheet = super + STYLE

        # @return [String] the finding as JSON, its verdicts as short as those of other pages
        def embedded_document
          Report::Html::Embedded.json(finding.with(verdicts: finding.verdicts.transform_values { |verdict| Report::Html::Embedded.without_recorded_requests(verdict) }))
        end

        # @return [Array<ClaimRows::Row>]
        def claim_rows = @claim_rows ||= ClaimRows.of(finding)

        # @return [String, nil] how often their outcomes are wrong
        def claims_note = ClaimRows.family(finding)

        # @return [ClaimChart]
        def claim_chart = @claim_chart ||= ClaimChart.new(finding)

        # @return [Array<Report::Html::LineChart>] those that have something to show
        def finding_charts = @finding_charts ||= finding.charts.map { |chart| FindingChart.of(chart) }.select(&:any?)

        # @return [Hash{String => Hash{String => String}}] how each verdict's rounds went
        def rounds = finding.verdicts.transform_values { |verdict| Report::HowMeasured.new(Report::Contents.of(verdict)).table.except("machine") }

        # Columns of numbers stand right.
        #
        # @param table [Lab::Table]
        # @return [Array<Boolean>] by column
        def numbers_in(table)
          table.headings.each_index.map { |index| index.positive? && table.rows.all? { |row| Text::Tables::NUMBER.match?(row[index].to_s) } }
        end
      end
    end
  end
end
