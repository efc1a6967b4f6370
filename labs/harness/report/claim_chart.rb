# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # Ratios as they were claimed and as they were measured.
      class ClaimChart < Report::Html::IntervalChart
        # @param finding [Lab::Finding]
        def initialize(finding)
          @claims = finding.claims.select { |claim| claim.unit == "ratio" && claim.measured }
          @scale = scale_of(@claims.flat_map { |claim| [claim.measured, claim.published_ratio] })
        end

        # @return [String] for those who do not see it
        def label = "Ratios as claimed, and as measured here with their intervals"

        # @return [Array<String>]
        def headings = ["measured here"]

        # @return [Array<String>] below the axis
        def axis_names = []

        # @return [Array<Report::Html::RowChart::Row>]
        def rows = @claims.map { |claim| row(claim, ClaimRows.row(claim)) }

        private

        def row(claim, told)
          Row.new(name: claim.text, style: "outcome-#{told.style}", facts: [told.measured],
            marks: marks(claim.measured, claim.published_ratio),
            title: "#{claim.text}: claimed #{told.published}, here #{told.measured}, #{told.basis}; #{told.outcome}")
        end
      end
    end
  end
end
