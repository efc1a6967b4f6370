# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # A lab's chart as one of the report's: points with their intervals, joined by lines. It begins at zero.
      module FindingChart
        LineChart = Report::Html::LineChart

        module_function

        # @param chart [Lab::Chart]
        # @return [Report::Html::LineChart]
        def of(chart)
          series = chart.series.each_with_index.map do |one, index|
            LineChart::Series.new(symbol: Report::Html.symbol(index), title: one.title, points: one.points)
          end
          LineChart.new(id: chart.id, title: chart.title, reading: chart.reading, each_point: true, series:,
            legend: series.map { |one| [one.symbol, one.title] }, across: axis(chart.across), up: axis(chart.up))
        end

        def axis(axis)
          LineChart::Axis.new(name: axis.name, unit: axis.unit, zero: true, words: method(:words), places: axis.ticks)
        end

        def words(number) = (number == number.to_i) ? Report::Figures.count(number.to_i) : format("%.4g", number)
      end
    end
  end
end
