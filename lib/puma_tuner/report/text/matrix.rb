# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Many topologies at a glance: by threads (down) and workers (across) throughput, or of an open loop, where that is its own
      # rate, p99.
      class Matrix
        # @param grid [Grid]
        # @param marks [Marks]
        # @param paint [Paint]
        def initialize(grid, marks, paint)
          @grid = grid
          @marks = marks
          @paint = paint
        end

        # @return [Array<Array<String>>] a block for as many workers as a line holds, and a legend beneath the last
        def blocks
          blocks = @grid.workers_counts.each_slice(COLUMNS_MAX).map { |workers| block(workers) }
          [*blocks, legend]
        end

        private

        COLUMNS_MAX = 12
        private_constant :COLUMNS_MAX

        def block(workers)
          table = Table.new([open? ? "p99 ms" : "requests/s", *workers.map { |count| "-w #{count} " }], paint: @paint)
          @grid.threads_counts.each { |count| table << ["-t #{count}", *workers.map { |workers_count| cell(workers_count, count) }] }
          table.lines
        end

        def open? = @grid.open?

        def estimate(forecast) = open? ? forecast.p99_ns : forecast.throughput_per_s

        def cell(workers_count, threads_count)
          forecast = @grid.at(Topology.new(workers_count:, threads_count:)) or return
          return "none#{sign(forecast)}" unless forecast.steady?
          number = estimate(forecast).value
          "#{open? ? Units.milliseconds(number) : Units.rate(number)}#{sign(forecast)}"
        end

        def sign(forecast)
          names = @marks.of(forecast.topology)
          return @paint.call("<", :green) if names.include?("recommended")
          names.include?("today") ? @paint.call("*", :cyan) : " "
        end

        def legend
          texts = ["< recommended", "* today", ("none: no steady state" if @grid.steady.size < @grid.forecasts.size), widest]
          [@paint.call("  #{texts.compact.join("   ")}", :dim)]
        end

        # A range in each cell would leave no matrix to look at.
        def widest
          return if @grid.steady.empty?
          ratios = @grid.steady.map { |forecast| estimate(forecast).then { |one| [one.high - one.value, one.value - one.low].max.fdiv(one.value) } }
          "#{Figures.level(estimate(@grid.steady.first))}: ±#{Units.percent(ratios.max)} at most"
        end
      end
    end
  end
end
