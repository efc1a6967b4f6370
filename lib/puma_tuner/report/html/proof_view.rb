# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # What the templates of a proof see, beside the rest of View.
      module ProofView
        # @return [Prove::Verdict, nil]
        def verdict = contents.verdict

        # @return [RatioChart]
        def ratio_chart = @ratio_chart ||= RatioChart.new(contents)

        # @return [RoundsChart]
        def rounds_chart = @rounds_chart ||= RoundsChart.new(contents)

        # @return [Array<LineChart>]
        def line_charts = @line_charts ||= Curves.of(contents)

        # @return [Array<Array(Prove::Cell, ComparisonRows)>]
        def compared_cells = @compared_cells ||= contents.other_cells.map { |cell| [cell, ComparisonRows.new(contents, cell)] }

        # @return [Array<Array(Prove::Cell, Array<CellRows::Row>)>] of the variants that somebody made a forecast of
        def predicted_cells = contents.cells.map { |cell| [cell, CellRows.of(contents, cell)] }.reject { |_, rows| rows.empty? }

        # @return [Array<Cause>]
        def causes = @causes ||= Cause.of(contents)

        # @return [WhatRan]
        def what_ran = @what_ran ||= WhatRan.new(contents)

        # @return [HowMeasured]
        def how_measured = @how_measured ||= HowMeasured.new(contents)

        # @param estimate [Stats::Estimate, nil]
        # @return [String] the middle of the rounds and its range
        def measured(metric, estimate) = Figures.estimate(metric, estimate)
      end
    end
  end
end
