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

        attr_reader :metric, :caption

        # @param sweep [Predict::Sweep]
        # @param marks [Marks]
        # @param metric [Symbol] of METRICS
        def initialize(sweep, marks, metric)
          @sweep = sweep
          @marks = marks
          @metric = metric
          @caption, @field, @words = METRICS.fetch(metric)
          logs = sweep.forecasts.map { |forecast| Math.log(forecast.public_send(@field).value) }
          @low, @high = logs.minmax
        end

        # @return [Array<Integer>]
        def workers_counts = @sweep.forecasts.map { |forecast| forecast.topology.workers_count }.uniq.sort

        # @return [Array<Integer>]
        def threads_counts = @sweep.forecasts.map { |forecast| forecast.topology.threads_count }.uniq.sort

        # @return [Boolean] whether the rule of thumb gives so many threads
        def rule_of_thumb?(threads_count) = threads_count == @sweep.rule_of_thumb_threads_count

        # @return [Cell, nil] nil when nothing was predicted there
        def cell(workers_count, threads_count)
          forecast = @sweep.at(Topology.new(workers_count:, threads_count:)) or return
          estimate = forecast.public_send(@field)
          measured = @marks.measured(forecast.topology)&.estimates&.fetch(metric.name, nil)
          Cell.new(text: @words.call(estimate.value), heat: heat(estimate.value), title: title(forecast, estimate, measured),
            marks: @marks.of(forecast.topology) - ["rule of thumb"], measured: measured && @words.call(measured.value))
        end

        private

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
