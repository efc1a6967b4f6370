# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # What the templates see of a sweep, beside the rest of View.
      module ForecastView
        # More forecasts are folded, but for the most interesting.
        OPEN_ROWS_MAX = 24

        # @return [Predict::Sweep, nil]
        def sweep = contents.sweep

        # @return [Marks]
        def marks = @marks ||= Marks.new(contents)

        # @return [Array<Grid>]
        def grids = @grids ||= Grid.of(sweep)

        # @return [SweepNotes]
        def sweep_notes = @sweep_notes ||= SweepNotes.new(sweep)

        # @return [Boolean] whether there are few enough forecasts to show them all at once
        def forecasts_open? = sweep.forecasts.size <= OPEN_ROWS_MAX

        # @return [Array<String>] columns
        def table_percentiles = @table_percentiles ||= (%w[p50 p90 p99] | sweep.percentiles).sort_by { |name| name.delete_prefix("p").to_f }

        # @return [Array<HeatMap>] as the throughput of an open loop is its own rate, a map of it would tell nothing
        def heat_maps(grid)
          metrics_of(grid).map do |metric|
            first = grids.find { |other| metrics_of(other).include?(metric) }
            HeatMap.new(grid, sweep, marks, metric, id: grid_id("heat-map-#{metric}", grid), first: first.equal?(grid))
          end
        end

        # @return [String] of an element: the grids after the first have their number at its end
        def grid_id(name, grid)
          index = grids.index { |other| other.equal?(grid) }
          index.zero? ? name : "#{name}-#{index + 1}"
        end

        # @return [Array<Predict::Forecast>] whose time is shown at once
        def explained(grid) = forecasts_open? ? grid.steady : marks.explained(grid)

        # @return [Bars]
        def forecast_bars(grid, forecasts) = Bars.of_forecasts(grid, marks, forecasts)

        # @yieldparam number [Numeric]
        # @yieldreturn [String]
        # @return [String] a cell of a table, with the interval
        def estimate_cell(estimate, &) = number_cell(Figures.with_range(estimate, &), estimate&.value)

        # @return [String] the machine in the simulation
        def as_modelled
          slice = contents.workload&.timeslice_ms
          ["#{Figures.cores(contents.machine.usable_cores)} cores’ worth of work for the server", ("GVL time slice #{slice} ms" if slice)].compact.join(", ")
        end

        # @return [String] where the machine's figures come from
        def calibration
          calibrated = contents.machine.calibrated
          calibrated ? "measured here on #{calibrated.calibrated_at}" : "typical figures, not measured here"
        end

        private

        def metrics_of(grid)
          return [] unless grid.map?
          grid.open? ? [:p99] : HeatMap::METRICS.keys
        end
      end
    end
  end
end
