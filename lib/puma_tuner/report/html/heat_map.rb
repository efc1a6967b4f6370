# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # One metric over threads (across) and workers (down): the stronger the colour, the higher the number.
      class HeatMap
        # heat: 0..1; marks: words; measured: the proof's number in words, nil without
        Cell = Data.define(:text, :heat, :title, :marks, :measured)

        METRICS = {
          throughput: ["Throughput in requests/s", :throughput_per_s, ->(number) { Units.rate(number) }],
          p99: ["p99 in ms", :p99_ns, ->(number) { Units.milliseconds(number) }]
        }.freeze

        # So many columns share the page's width.
        FEW_COLUMNS = 9

        attr_reader :grid, :marks, :metric, :caption, :id

        # @param grid [Grid]
        # @param sweep [Predict::Sweep] whose numbers all have their colour on one scale
        # @param marks [Marks]
        # @param metric [Symbol] of METRICS
        # @param id [String]
        # @param first [Boolean] whether it is the page's first of its metric, which tells how to read them
        def initialize(grid:, sweep:, marks:, metric:, id:, first:)
          @grid = grid
          @sweep = sweep
          @marks = marks
          @metric = metric
          @id = id
          @first = first
          @caption, @field, @words = METRICS.fetch(metric)
          values = sweep.forecasts.select(&:steady?).map { |forecast| forecast.public_send(@field).value }
          @low, @high = values.map { |value| Math.log(value) }.minmax
        end

        # @return [Boolean]
        def first? = @first

        # @return [Boolean] whether the rule of thumb gives so many threads
        def rule_of_thumb?(threads_count) = threads_count == @sweep.rule_of_thumb_threads_count

        # @return [Cell, nil] nil when nothing was predicted there
        def cell(workers_count, threads_count)
          forecast = @grid.at(Topology.new(workers_count:, threads_count:)) or return
          marks = @marks.of_settings(forecast.topology)
          return unsteady(forecast, marks) unless forecast.steady?
          estimate = forecast.public_send(@field)
          measured = @marks.measured(forecast)&.estimates&.fetch(metric.name, nil)
          Cell.new(text: @words.call(estimate.value), heat: heat(estimate.value), marks:,
            title: title(forecast, estimate, measured), measured: measured && @words.call(measured.value))
        end

        private

        def unsteady(forecast, marks)
          reason = Statements.words(forecast.unsteady)
          Cell.new(text: "no steady state", heat: 0, title: "#{forecast.topology}: #{reason}",
            marks: ["unsteady", *marks], measured: nil)
        end

        # Logarithmic: what doubles looks the same step everywhere.
        def heat(value) = (@high > @low) ? ((Math.log(value) - @low) / (@high - @low)).round(2) : 0.5

        def title(forecast, estimate, measured)
          "#{forecast.topology}: #{Figures.with_range(estimate, &@words)} predicted" \
            "#{", #{Figures.with_range(measured, &@words)} measured" if measured}"
        end
      end
    end
  end
end
