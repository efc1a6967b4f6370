# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What other topologies would do. A topology that was measured, too, has that below it.
      class Forecasts < Section
        # More rows are read better as a matrix.
        ROWS_MAX = 24

        HEADINGS = ["", "requests/s", "p50 ms", "p99 ms", "gvlwait", "cores", "MiB", "bound", "Amdahl", "MVA", "<"].freeze

        private

        def shown? = @contents.sweep

        def sweep = @contents.sweep

        def heading = "Predicted: workers x threads, with #{Figures.counted(sweep.connections_count, "connection")}"

        def lines
          return rows(sweep.forecasts) + notes if sweep.forecasts.size <= ROWS_MAX
          Matrix.new(sweep, marks, @paint).lines + ["", *rows(marks.interesting)] + notes
        end

        def marks = @marks ||= Marks.new(@contents)

        def rows(forecasts)
          table = table(HEADINGS)
          forecasts.each do |forecast|
            first, *others = names(forecast)
            table << forecast_row(forecast, first)
            others.each { |name| table << [nil] * (HEADINGS.size - 1) + [name] }
            cell = marks.measured(forecast.topology)
            table << measured_row(cell) if cell&.estimates&.key?("throughput")
          end
          table.lines
        end

        # @return [Array<String>] what is to be said of it
        def names(forecast)
          names = marks.of(forecast.topology)
          names << "fastest" if sweep.forecasts.size > ROWS_MAX && forecast == marks.fastest
          names.map { |name| @paint.call(name, (name == "recommended") ? :green : :cyan) }
        end

        def forecast_row(forecast, name)
          [
            @paint.call(forecast.topology.to_s, *(:bold if name)), rate(forecast.throughput_per_s),
            *[forecast.p50_ns.value, forecast.p99_ns.value, forecast.gvl_wait_ns].map { |ns| Units.milliseconds(ns) },
            Figures.cores(forecast.cores_used), Figures.mib(forecast.memory_bytes), *closed_forms(forecast), name
          ]
        end

        def closed_forms(forecast)
          forms = forecast.closed_forms
          [forms.bound_per_s, forms.amdahl_per_s, forms.mva_per_s].map { |per_s| @paint.call(Units.rate(per_s), :dim) }
        end

        # The errors of the latencies are in the proof's table.
        def measured_row(cell)
          error = cell.error_ratio("throughput")
          p50, p99, pss = cell.estimates.values_at("p50", "p99", "pss").map { |estimate| estimate&.value }
          [
            @paint.call(" measured", :cyan), rate(cell.estimates["throughput"]), Units.milliseconds(p50), Units.milliseconds(p99), nil, nil,
            Figures.mib(pss), nil, nil, nil, error && "error #{Figures.error(error)}"
          ]
        end

        def rate(estimate) = Figures.with_range(estimate) { |per_s| Units.rate(per_s) }

        def notes
          note("Middle and range of #{Figures.counted(sweep.seeds_count, "simulation")} of #{Figures.counted(sweep.requests_count, "request")} " \
            "each; measured: of the rounds. gvlwait: ms per request. cores: kept busy by the server. bound, Amdahl, MVA: requests/s " \
            "that formulas without a simulation give. The rule of thumb, 100 over the CPU percentage, " \
            "gives #{sweep.rule_of_thumb_threads_count ? Figures.counted(sweep.rule_of_thumb_threads_count, "thread") : "nothing here"}.")
        end
      end
    end
  end
end
