# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What other settings would do: a table, or a matrix, for each load, and where the time of the most interesting goes.
      class Forecasts < Section
        # More rows are read better as a matrix.
        ROWS_MAX = 24

        # With no more rows, the time of all of them is told.
        EXPLAINED_MAX = 6

        private

        def shown? = @contents.sweep

        def sweep = @contents.sweep

        def heading = "Predicted: workers x threads#{", with #{grids.first.words}" if grids.one?}"

        def lines
          [*(paragraph(notes.assumed) if notes.assumed), *blocks.inject { |lines, block| [*lines, "", *block] }, *small_print]
        end

        def grids = @grids ||= Grid.of(sweep)

        def marks = @marks ||= Marks.new(@contents)

        def notes = @notes ||= SweepNotes.new(sweep)

        def matrix?(grid) = sweep.forecasts.size > ROWS_MAX && grid.map?

        def blocks
          grids.flat_map do |grid|
            first, *others = figures(grid)
            [[*(title(grid) unless grids.one?), *first], *others]
          end
        end

        def title(grid)
          recorded = grid.recorded
          paragraph("With #{grid.words}#{" (#{recorded})" if recorded}").map { |line| @paint.call(line, :bold) }
        end

        # @return [Array<Array<String>>]
        def figures(grid)
          reasons = grid.unsteady_reasons.flat_map { |reason| note("No steady state: #{reason}") }
          shown = matrix?(grid) ? marks.interesting(grid) : grid.forecasts
          rows = [*ForecastRows.new(grid, marks, @paint, best: matrix?(grid)).lines(shown), *reasons]
          [*(Matrix.new(grid, marks, @paint).blocks if matrix?(grid)), rows, *Explanation.new(grid, marks, @paint).blocks(explained(grid))]
        end

        def explained(grid) = (sweep.forecasts.size <= EXPLAINED_MAX) ? grid.steady : marks.explained(grid)

        def of_explanation
          "Parts: ms of a mean simulated request as its client sees it, gc not in cpu, gvlwait with its interval; slices: time slices that ended in it. " \
            "bound to 100/CPU: requests/s that formulas give without a simulation, and their error against it; flow: MVA behind an " \
            "admission by threads; flow ms: its mean latency."
        end

        def small_print
          [*note("#{notes.made}; measured: of the rounds. cores: kept busy by the server. limit: whatever sets the lowest bound."),
            *(note(of_explanation) if grids.any? { |grid| explained(grid).any? }), *note(notes.rule_of_thumb), *notes.below.flat_map { |text| note(text) }]
        end
      end
    end
  end
end
