# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What other settings would do: for each load a table, where the time of the most interesting goes, and what
      # formulas say.
      class Forecasts < Base
        # More rows are read better as a matrix, of which the most interesting are rows, too.
        ROWS_MAX = 24
        MOST = {brief: 6, text: ROWS_MAX, markdown: 12}.freeze

        # With no more rows, the time of all of them is told in a terminal.
        EXPLAINED_MAX = 6

        # Workers to a line of a matrix.
        COLUMNS_MAX = 12

        FORMULAS_NOTE = "The formulas use means only: they ignore time slices, different kinds of requests, and an " \
          "uneven split of connections. Where they differ from the simulation, one of these is why."
        EXPLANATION = "Parts: ms of the mean simulated request as its client sees it, cpu without gc, gvlwait with " \
          "its interval; slices: time slices that ended in it. bound to 100/CPU: requests/s by formulas, and their " \
          "error against the simulation; flow: MVA with admission limited by threads; flow ms: its mean latency."
        BUDGETS_READING = "each bar is the mean request of one topology as its client sees it, from the moment it " \
          "should be sent, split into what the simulation had it wait for or do. " \
          "What shrinks from one bar to the next is what those settings cure; what stays is the app's own work."
        private_constant :ROWS_MAX, :MOST, :EXPLAINED_MAX, :COLUMNS_MAX, :FORMULAS_NOTE, :EXPLANATION, :BUDGETS_READING

        # @param contents [Contents] with a sweep
        def initialize(contents)
          @contents = contents
          @sweep = contents.sweep
          @grids = Grid.of(@sweep)
          @marks = Marks.new(contents)
          @notes = SweepNotes.new(@sweep)
        end

        # @return [Blocks::Section]
        def section
          Section.new(id: "predicted",
            title: "Predicted: workers x threads#{", with #{@grids.first.words}" if @grids.one?}", blocks: [
              *(Paragraph.new(@notes.assumed, style: :assumed) if @notes.assumed),
              Aside.new([Paragraph.new(simulated)]),
              *@grids.flat_map { |grid| grid(grid) }, *small_print
            ])
        end

        private

        def simulated
          load = ", #{@grids.first.words}" if @grids.one?
          "Simulated with the recorded requests: #{Figures.counted(@sweep.forecasts.size, "scenario")}, " \
            "#{Figures.counted(@sweep.seeds_count, "simulation")} of " \
            "#{Figures.counted(@sweep.requests_count, "request")} each (seed #{@sweep.seed} and up)#{load}."
        end

        def grid(grid)
          heading = Subheading.new("With #{grid.words}", mark: grid.recorded) unless @grids.one?
          reasons = grid.unsteady_reasons.map { |reason| Note.new("No steady state: #{reason}") }
          [*heading, Chart.new(:heat_maps, heat_maps(grid), instead: [Aside.new(matrices(grid))]),
            *budgets_figure(grid),
            Folded.new("All forecasts, and what formulas say", [table(grid), *reasons, *explanation(grid)], open: few?)]
        end

        def few? = @sweep.forecasts.size <= ROWS_MAX

        # As the throughput of an open loop is its own rate, a map of it would tell nothing.
        def heat_maps(grid)
          metrics_of(grid).map do |metric|
            first = @grids.find { |other| metrics_of(other).include?(metric) }
            {grid:, sweep: @sweep, marks: @marks, metric:, id: id("heat-map-#{metric}", grid),
             first: first.equal?(grid)}
          end
        end

        def metrics_of(grid)
          return [] unless grid.map?
          grid.open? ? [:p99] : %i[throughput p99]
        end

        # Of an element: the grids after the first have their number at its end.
        def id(name, grid)
          index = @grids.index { |other| other.equal?(grid) }
          index.zero? ? name : "#{name}-#{index + 1}"
        end

        # Today's, the recommended and the best, or all where they are few.
        def budgets_figure(grid)
          shown = few? ? grid.steady : @marks.explained(grid)
          return [] if shown.empty?
          Figure.new(id: id("simulated-budgets", grid), title: "Where a simulated request's time goes",
            blocks: [Chart.new(:forecasts, [grid, @marks, shown])],
            reading: (BUDGETS_READING if grid.equal?(@grids.first)))
        end

        def table(grid)
          columns = [Column.new("workers x threads", short: ""), Column.new("requests/s", :rate),
            *percentiles.map { |name| Column.new(name, :duration, page: !@sweep.percentiles.include?(name)) },
            Column.new("gvlwait", :duration, "mean per request", page: true),
            Column.new("queue", :duration, "mean per request", page: true),
            Column.new("slices", :decimal, "time slices that ended in a mean request", page: true),
            Column.new("cores", :cores, "kept busy by the server"),
            Column.new("MiB", :mib, "of all processes, pages in common counted once"),
            Column.new("limit", :text, "by the lowest bound")]
          interesting = @marks.interesting(grid)
          Table.new(columns, grid.forecasts.map { |forecast| row(grid, forecast, interesting.include?(forecast)) },
            sortable: true, style: "dense", caption: @notes.made, most: MOST, nouns: %w[topology topologies])
        end

        def percentiles
          @percentiles ||= (Percentile::ALWAYS | @sweep.percentiles).sort_by { |name| Percentile.ratio(name) }
        end

        def row(grid, forecast, key)
          # Among a few rows everybody sees the best.
          marks = (grid.forecasts.size > ROWS_MAX) ? @marks.in_grid(grid, forecast) : @marks.of(forecast.topology)
          cell = @marks.measured(forecast)
          Row.new([grid.name(forecast), *(forecast.steady? ? numbers(forecast) : unsteady(forecast))], marks:, key:,
            below: (measured(cell) if cell&.estimates&.key?("throughput")))
        end

        def numbers(forecast)
          [forecast.throughput_per_s, *percentiles.map { |name| forecast.quantile(name) }, forecast.gvl_wait_ns,
            forecast.queue_ns, forecast.slices_per_request || 0,
            forecast.cores_used, forecast.memory_bytes, forecast.bottleneck]
        end

        def unsteady(forecast)
          why = Cell.new("no steady state", title: Statements.words(forecast.unsteady), style: :unsteady)
          [why, *[""] * (percentiles.size + 6)]
        end

        # The errors of the latencies are in the proof's table.
        def measured(cell)
          error = cell.error_ratio("throughput")
          Row.new(["measured", cell.estimates["throughput"], *percentiles.map { |name| cell.estimates[name] || "" }, "",
            "", "", "", cell.estimates["pss"]&.value || "", ""],
            marks: [*("error #{Figures.error(error)}" if error)])
        end

        # Many topologies at a glance: by threads (down) and workers (across) throughput, or of an open loop, where that
        # is its own rate, p99.
        def matrices(grid)
          return [] unless !few? && grid.map?
          tables = grid.workers_counts.each_slice(COLUMNS_MAX).map do |workers|
            columns = [Column.new(grid.open? ? "p99 ms" : "requests/s"),
              *workers.map { |count| Column.new("-w #{count} ", :figure) }]
            rows = grid.threads_counts.map do |count|
              Row.new(["-t #{count}", *workers.map { |workers_count| matrix_cell(grid, workers_count, count) }])
            end
            Table.new(columns, rows)
          end
          [*tables, Note.new(["< recommended", "* today",
            ("none: no steady state" if grid.steady.size < grid.forecasts.size), widest(grid)].compact.join("; "))]
        end

        def matrix_cell(grid, workers_count, threads_count)
          forecast = grid.at(Topology.new(workers_count:, threads_count:)) or return ""
          marks = @marks.of(forecast.topology)
          sign = {"recommended" => "<", "today" => "*"}.find { |mark, _| marks.include?(mark) }&.last || " "
          return "none#{sign}" unless forecast.steady?
          number = estimate(grid, forecast).value
          "#{grid.open? ? Units.milliseconds(number) : Units.rate(number)}#{sign}"
        end

        def estimate(grid, forecast) = grid.open? ? forecast.p99_ns : forecast.throughput_per_s

        # A range in each cell would leave no matrix to look at.
        def widest(grid)
          return if grid.steady.empty?
          estimates = grid.steady.map { |forecast| estimate(grid, forecast) }
          ratios = estimates.map { |one| [one.high - one.value, one.value - one.low].max.fdiv(one.value) }
          "#{Figures.level(estimates.first)}: ±#{Units.percent(ratios.max)} at most"
        end

        # Where the time of a mean simulated request goes, and what formulas make of the same scenario.
        def explanation(grid)
          return [] if grid.steady.empty?
          shown = explained(grid)
          [Aside.new([budgets(grid, shown), *(all_budgets(grid) unless few?), formulas(grid, grid.steady, shown),
            Note.new(FORMULAS_NOTE)])]
        end

        def all_budgets(grid)
          Figure.new(id: id("all-budgets", grid), title: "The mean simulated request of each",
            blocks: [Chart.new(:forecasts, [grid, @marks, grid.steady])])
        end

        def explained(grid) = (@sweep.forecasts.size <= EXPLAINED_MAX) ? grid.steady : @marks.explained(grid)

        def budgets(grid, forecasts)
          parts = Parts::SIMULATED.reject { |part| forecasts.all? { |forecast| unseen?(forecast.budget, part) } }
          columns = [Column.new(""), Column.new("mean", :duration),
            *parts.map { |part| Column.new(part.word, :milliseconds, part.meaning) }, Column.new("slices", :decimal)]
          rows = forecasts.map do |forecast|
            Row.new([grid.name(forecast), forecast.budget.wall_ns, *parts.map { |part| part_cell(forecast, part.name) },
              forecast.slices_per_request || 0], marks: mark(grid, forecast))
          end
          Table.new(columns, rows, style: "dense", caption: "Where the mean simulated request's time goes, in ms")
        end

        def unseen?(budget, part) = budget.share_ratio(part.name).to_f < ThreadLine::LEAST_PRINTED_RATIO

        # The wait for the GVL alone has an interval.
        def part_cell(forecast, name)
          wait_ns = forecast.gvl_wait_ns
          (name == :gvl_wait && wait_ns && wait_ns.low < wait_ns.high) ? wait_ns : forecast.budget.part_ns(name)
        end

        def formulas(grid, forecasts, shown)
          columns = [Column.new(""), Column.new("simulated", :rate), Column.new("mean", :duration, page: true),
            *Formulas::ALL.map { |formula| Column.new(formula.word, :figure, formula.meaning) }]
          rows = forecasts.map do |forecast|
            Row.new([grid.name(forecast), forecast.throughput_per_s.value, forecast.mean_ns.value,
              *Formulas::ALL.map { |formula| Cell.new(formula.words(forecast), number: formula.number(forecast)) }],
              marks: mark(grid, forecast), key: shown.include?(forecast))
          end
          Table.new(columns, rows, sortable: true, style: "dense", most: {text: EXPLAINED_MAX},
            nouns: %w[topology topologies],
            caption: "Formulas, in requests/s and (flow ms) mean latency, and their error against the simulation")
        end

        # One word is enough: the rows above have them all.
        def mark(grid, forecast) = @marks.in_grid(grid, forecast).first(1)

        def small_print
          [Note.new("#{@notes.made}; measured: of the rounds. cores: how many the server keeps busy. limit: what " \
            "sets the lowest bound."),
            Aside.new([*(Note.new(EXPLANATION) if @grids.any? { |grid| explained(grid).any? }),
              Note.new(@notes.rule_of_thumb)]), *@notes.below.map { |text| Note.new(text) }]
        end
      end
    end
  end
end
