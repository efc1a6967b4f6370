# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # Ratios as they were claimed and as they were measured, on a logarithmic line around 1.
      class ClaimChart
        include Report::Html::RatiosOnScale

        LEFT = 336
        RIGHT = 190
        TOP = 24
        ROW_HEIGHT = 34

        # Beside the plot, and where the columns of texts begin.
        NAME_LENGTH = 48
        MEASURED = 690

        Row = Data.define(:y, :name, :low, :high, :value, :published, :measured, :style, :title)

        # @param finding [Lab::Finding]
        def initialize(finding)
          @claims = finding.claims.select { |claim| claim.unit == "ratio" && claim.measured }
          numbers = @claims.flat_map { |claim| [claim.measured.low, claim.measured.high, claim.published_ratio] }
          @scale = scale_of_ratios(numbers) if @claims.any?
        end

        # @return [Integer] where the rows end and the axis begins
        def plot_bottom = TOP + @claims.size * ROW_HEIGHT

        # @return [Array<Row>]
        def rows = @claims.each_with_index.map { |claim, index| row(claim, TOP + index * ROW_HEIGHT + ROW_HEIGHT / 2) }

        private

        def row(claim, y)
          told = ClaimRows.row(claim)
          measured = claim.measured
          Row.new(y:, name: Report::Figures.shortened(claim.text, NAME_LENGTH), low: @scale.place(measured.low), high: @scale.place(measured.high),
            value: @scale.place(measured.value), published: claim.published_ratio && @scale.place(claim.published_ratio), measured: told.measured,
            style: told.style, title: "#{claim.text}: claimed #{told.published}, here #{told.measured}, #{told.basis}; #{told.outcome}")
        end
      end
    end
  end
end
