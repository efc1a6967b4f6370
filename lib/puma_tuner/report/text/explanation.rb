# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Where the time of a mean simulated request goes, and what formulas make of the same scenario.
      class Explanation
        # @param grid [Grid]
        # @param marks [Marks]
        # @param paint [Paint]
        def initialize(grid, marks, paint)
          @grid = grid
          @marks = marks
          @paint = paint
        end

        # @param forecasts [Array<Predict::Forecast>] with a steady state
        # @return [Array<Array<String>>] of lines; none without forecasts
        def blocks(forecasts) = forecasts.empty? ? [] : [budgets(forecasts), formulas(forecasts)]

        private

        def budgets(forecasts)
          parts = parts(forecasts)
          table = table(["", "mean ms", *parts.map(&:word), "slices", "<"])
          forecasts.each do |forecast|
            budget = forecast.budget
            table << [@grid.name(forecast), Units.milliseconds(budget.wall_ns), *parts.map { |part| part_cell(forecast, budget, part.name) },
              Units.significant(forecast.slices_per_request || 0), word(forecast)]
          end
          table.lines
        end

        # The wait for the GVL alone has an interval.
        def part_cell(forecast, budget, name)
          wait_ns = forecast.gvl_wait_ns
          return Units.milliseconds(budget.part_ns(name)) unless name == :gvl_wait && wait_ns && wait_ns.low < wait_ns.high
          Figures.with_range(wait_ns) { |ns| Units.milliseconds(ns) }
        end

        # What is nowhere takes no column.
        def parts(forecasts)
          budgets = forecasts.map(&:budget)
          Parts::SIMULATED.reject { |part| budgets.all? { |budget| budget.share_ratio(part.name).to_f < ThreadLine::LEAST_PRINTED_RATIO } }
        end

        def formulas(forecasts)
          table = table(["", "simulated", *Formulas::ALL.map(&:word), "<"])
          forecasts.each do |forecast|
            table << [@grid.name(forecast), Units.rate(forecast.throughput_per_s.value),
              *Formulas.of(forecast).map { |told| @paint.call(told.words, :dim) }, word(forecast)]
          end
          table.lines
        end

        def table(headings) = Table.new(headings, width: WIDTH, paint: @paint)

        # One word is enough: the rows above have them all.
        def word(forecast)
          name = @marks.in_grid(@grid, forecast).first
          @paint.call(name, (name == "recommended") ? :green : :cyan) if name
        end
      end
    end
  end
end
