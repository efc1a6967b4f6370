# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # The most load that each setting can take while a goal holds.
      class Capacity < Base
        # @param capacities [Array<Predict::Capacity>] of one goal
        def initialize(capacities)
          @capacities = capacities
        end

        # @return [Blocks::Section, nil]
        def section
          return if @capacities.empty?
          first = @capacities.first
          Section.new(id: "capacity", title: "Capacity: the most load with #{first.goal}", blocks: [
            Table.new(columns, @capacities.map { |capacity| row(capacity) }, style: "dense"),
            Note.new("Found by bisection, to #{Units.percent(first.tolerance_ratio)}; judged by the middle of each " \
              "forecast."),
            *reasons.map { |reason| Note.new("No steady state: #{reason}.") }
          ])
        end

        private

        def columns
          [Column.new("workers x threads", short: ""), Column.new("holds with", :figure),
            *percentiles.map { |name| Column.new(name, :duration) }, Column.new("fails with", :figure),
            Column.new("as")]
        end

        def row(capacity)
          forecast = capacity.forecast
          Row.new([capacity.setting, capacity.scenario&.arrivals&.to_s || "nothing",
            *percentiles.map { |name| forecast&.quantile(name)&.value },
            capacity.failed_scenario&.arrivals&.to_s, failure(capacity)])
        end

        def percentiles
          @percentiles ||= (%w[p50 p99] | @capacities.first.goal.percentiles).sort_by do |name|
            Predict::Percentile.ratio(name)
          end
        end

        # Why there is no steady state is told below.
        def failure(capacity)
          forecast = capacity.failed_forecast or return "the most that was tried"
          return Cell.new("no steady state", title: Statements.words(forecast.unsteady), style: :unsteady) unless forecast.steady?
          name, = capacity.goal.max_ns.find { |percentile, limit_ns| forecast.quantile(percentile).value > limit_ns }
          "#{name} would be #{Figures.with_range(forecast.quantile(name)) { |ns| Units.duration(ns) }}"
        end

        def reasons = @capacities.filter_map { |capacity| Statements.words(capacity.failed_forecast&.unsteady) }.uniq
      end
    end
  end
end
