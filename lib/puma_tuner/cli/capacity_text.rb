# frozen_string_literal: true

module PumaTuner
  module CLI
    # The most that some settings can take, for a person.
    class CapacityText
      # @param capacities [Array<Predict::Capacity>] of one goal
      # @param settings [Array<Predict::Scenario>] where each search began
      def initialize(capacities, settings)
        @capacities = capacities
        @settings = settings
      end

      # @return [String]
      def to_s
        table = Report::Columns.new(["", "holds with", *percentiles.map { |name| "#{name} ms" }, "fails with", "<"])
        @capacities.zip(@settings) { |capacity, setting| table << row(capacity, setting) }
        first = @capacities.first
        found = "  Found by bisection, to #{Units.percent(first.tolerance_ratio)}; " \
          "judged by the middle of each forecast."
        "#{["Capacity: the most load with #{first.goal}", *table.lines, "", found].join("\n")}\n\n"
      end

      # @return [Array<String>] one sentence for each
      def sentences
        @capacities.zip(@settings).map do |capacity, setting|
          held = "#{capacity.goal} holds with #{capacity.scenario ? capacity.scenario.arrivals : "no load"}"
          if capacity.failed_scenario
            failed = ", and no more with #{capacity.failed_scenario.arrivals}: #{capacity.failed_because}"
          end
          "capacity of #{name(setting)}: #{held}#{failed}"
        end
      end

      # @return [Array<Predict::Scenario>] at the limits, of those that have one
      def limits = @capacities.filter_map(&:scenario)

      private

      def row(capacity, setting)
        latencies = percentiles.map do |name|
          capacity.forecast ? Units.milliseconds(capacity.forecast.quantile(name).value) : "-"
        end
        [name(setting), capacity.scenario ? capacity.scenario.arrivals.to_s : "nothing", *latencies,
          capacity.failed_scenario ? capacity.failed_scenario.arrivals.to_s : "-", brief(capacity)]
      end

      def percentiles
        @percentiles ||= (%w[p50 p99] | @capacities.first.goal.percentiles).sort_by do |name|
          Predict::Percentile.ratio(name)
        end
      end

      # Why there is no steady state is told in a sentence.
      def brief(capacity) = capacity.failed_because&.slice(/\A[^:]+/) || "the most that was tried"

      # Without its load, which is what is asked for.
      def name(setting) = setting.to_s.delete_suffix(", #{setting.arrivals}")
    end
  end
end
