# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The page of a lab's finding.
      class FindingPage < Page
        # @return [Lab::Finding]
        def finding = @value

        # @return [String]
        def title = finding.title

        # @return [String]
        def content_html = finding_html

        # @return [Array<ClaimRows::Row>]
        def claim_rows = @claim_rows ||= ClaimRows.of(finding)

        # @return [String, nil] how often their outcomes are wrong
        def claims_note = ClaimRows.family(finding)

        # @return [ClaimChart]
        def claim_chart = @claim_chart ||= ClaimChart.new(finding)

        # @return [Array<FindingChart>] those that have something to show
        def finding_charts = @finding_charts ||= finding.charts.map { |chart| FindingChart.new(chart) }.select(&:any?)

        # @return [Hash{String => Hash{String => String}}] how each verdict's rounds went
        def rounds = finding.verdicts.transform_values { |verdict| HowMeasured.new(Contents.of(verdict)).table.except("machine") }

        # Columns of numbers stand right.
        #
        # @param table [Lab::Table]
        # @return [Array<Boolean>] by column
        def numbers_in(table)
          table.headings.each_index.map { |index| index.positive? && table.rows.all? { |row| Text::FindingTables::NUMBER.match?(row[index].to_s) } }
        end
      end
    end
  end
end
