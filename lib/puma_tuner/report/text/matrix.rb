# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Many topologies at a glance: throughput by threads (down) and workers (across).
      class Matrix
        # @param sweep [Predict::Sweep]
        # @param marks [Marks]
        # @param paint [Paint]
        def initialize(sweep, marks, paint)
          @sweep = sweep
          @marks = marks
          @paint = paint
        end

        # @return [Array<String>]
        def lines
          blocks.flat_map { |workers| [*block(workers), ""] } << legend
        end

        private

        COLUMNS_MAX = 12
        private_constant :COLUMNS_MAX

        # Side by side as many workers as a line holds.
        def blocks = @sweep.forecasts.map { |forecast| forecast.topology.workers_count }.uniq.sort.each_slice(COLUMNS_MAX)

        def block(workers)
          table = Table.new(["requests/s", *workers.map { |count| "-w #{count} " }], paint: @paint)
          threads.each { |count| table << ["-t #{count}", *workers.map { |workers_count| cell(workers_count, count) }] }
          table.lines
        end

        def threads = @sweep.forecasts.map { |forecast| forecast.topology.threads_count }.uniq.sort

        def cell(workers_count, threads_count)
          forecast = @sweep.at(Topology.new(workers_count:, threads_count:)) or return
          "#{Units.rate(forecast.throughput_per_s.value)}#{sign(forecast)}"
        end

        def sign(forecast)
          names = @marks.of(forecast.topology)
          return @paint.call("<", :green) if names.include?("recommended")
          names.include?("today") ? @paint.call("*", :cyan) : " "
        end

        def legend = @paint.call("  < recommended   * today", :dim)
      end
    end
  end
end
