# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Ratios of one log to another: of all requests, as they were and at equal mix, and of each endpoint.
      class LogChart < IntervalChart
        # @param outcome [Compare::Outcome]
        def initialize(outcome)
          @groups = {"all requests" => outcome.rows, **outcome.endpoints.to_h { |one| [one.endpoint, one.rows] }}
            .transform_values { |rows| rows.select { |row| row.ratio && row.unit == "ns" } }
            .reject { |_, rows| rows.empty? }
          @scale = scale_of(@groups.values.flatten.flat_map { |row| [row.ratio, row.adjusted] })
        end

        # @return [String] for those who do not see it
        def label = "Ratios of b to a, with their intervals"

        # @return [Array<String>]
        def headings = ["ratio"]

        # @return [Array<String>] below the axis, from left to right
        def axis_names = ["← faster in b", "slower in b →"]

        # @return [Array<Array(String, Array<Row>)>] each endpoint and its rows
        def groups = @groups.map { |name, rows| [name, rows.map { |row| row(name, row) }] }

        private

        def row(name, row)
          ratio = Figures.ratio(row.ratio)
          equal = "; at equal mix #{Figures.ratio(row.adjusted)}" if row.adjusted
          Row.new(name: row.label, style: "outcome-#{row.outcome || :not_shown}", facts: [ratio],
            marks: marks(row.ratio, row.adjusted&.value),
            title: "#{name}, #{row.label}: #{ratio}#{equal}; #{Figures.outcome(row.outcome || :not_shown)}")
        end
      end
    end
  end
end
