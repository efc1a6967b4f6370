# frozen_string_literal: true

module PumaTuner
  module Report
    class Markdown
      # A sweep's tables: one for each load, time slice and number of I/O threads.
      class Forecasts
        # @param contents [Contents] with a sweep
        def initialize(contents)
          @grids = Grid.of(contents.sweep)
          @marks = Marks.new(contents)
          @notes = SweepNotes.new(contents.sweep)
          @percentiles = contents.sweep.percentiles
        end

        # @return [Array<Table>] the last with what is to be said of all
        def tables
          @grids.map do |grid|
            many = grid.forecasts.size > ROWS_MAX
            shown = many ? @marks.interesting(grid) : grid.forecasts
            rows = shown.map { |forecast| [*row(grid, forecast), marks(grid, forecast, many).join(", ")] }
            Table.new(title: title(grid), headings: ["workers x threads", "requests/s", *@percentiles, ""], rows:,
              notes: [*count(grid, shown), *grid.unsteady_reasons.map { |reason| "No steady state: #{reason}" }, *(below if grid.equal?(@grids.last))])
          end
        end

        # @return [String, nil] to stand above them
        def assumed = @notes.assumed

        private

        def title(grid) = (["With #{grid.words}", *grid.recorded].join(", ") unless @grids.one?)

        def row(grid, forecast) = [grid.name(forecast), *(forecast.steady? ? numbers(forecast) : ["no steady state", *[""] * @percentiles.size])]

        # Among all rows everybody sees the best.
        def marks(grid, forecast, many) = many ? @marks.in_grid(grid, forecast) : @marks.of(forecast.topology)

        def numbers(forecast)
          [Figures.with_range(forecast.throughput_per_s) { |per_s| Units.rate(per_s) },
            *@percentiles.map { |name| Figures.with_range(forecast.quantile(name)) { |ns| Units.duration(ns) } }]
        end

        def count(grid, shown) = ["#{shown.size} of #{Figures.counted(grid.forecasts.size, "topology", "topologies")}."]

        def below = ["#{@notes.made}.", *@notes.below]
      end
    end
  end
end
