# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Forecasts as rows. A topology that was measured, too, has that below it; one without a steady state has no number.
      class ForecastRows
        # @param grid [Grid]
        # @param marks [Marks]
        # @param paint [Paint]
        # @param best [Boolean] whether to point at the best, which among all rows everybody sees
        def initialize(grid, marks, paint, best:)
          @grid = grid
          @marks = marks
          @paint = paint
          @best = best
        end

        # @param forecasts [Array<Predict::Forecast>] of the grid
        # @return [Array<String>]
        def lines(forecasts)
          table = Table.new(headings, width: WIDTH, paint: @paint)
          forecasts.each { |forecast| rows(forecast).each { |row| table << row } }
          table.lines
        end

        private

        def headings = ["", "requests/s", *percentiles.map { |name| "#{name} ms" }, "cores", "MiB", "<limit", "<"]

        def percentiles = @grid.percentiles

        def rows(forecast)
          first, *others = names(forecast)
          cell = @marks.measured(forecast)
          [
            row(forecast, first), *others.map { |name| [nil] * (headings.size - 1) + [name] },
            *([measured_row(cell)] if cell&.estimates&.key?("throughput"))
          ]
        end

        # @return [Array<String>] what is to be said of it
        def names(forecast)
          names = @best ? @marks.in_grid(@grid, forecast) : @marks.of(forecast.topology)
          names.map { |name| @paint.call(name, (name == "recommended") ? :green : :cyan) }
        end

        def row(forecast, name)
          label = @paint.call(@grid.name(forecast), *(:bold if name))
          return [label, "no steady state", *[nil] * (headings.size - 3), name] unless forecast.steady?
          [label, rate(forecast.throughput_per_s), *percentiles.map { |percentile| milliseconds(forecast.quantile(percentile)) },
            Figures.cores(forecast.cores_used), Figures.mib(forecast.memory_bytes), forecast.bottleneck, name]
        end

        # The errors of the latencies are in the proof's table.
        def measured_row(cell)
          error = cell.error_ratio("throughput")
          [
            @paint.call(" measured", :cyan), rate(cell.estimates["throughput"]), *cell.estimates.values_at(*percentiles).map { |estimate| milliseconds(estimate) },
            nil, Figures.mib(cell.estimates["pss"]&.value), nil, error && "error #{Figures.error(error)}"
          ]
        end

        def rate(estimate) = Figures.with_range(estimate) { |per_s| Units.rate(per_s) }

        def milliseconds(estimate) = Figures.with_range(estimate) { |ns| Units.milliseconds(ns) }
      end
    end
  end
end
