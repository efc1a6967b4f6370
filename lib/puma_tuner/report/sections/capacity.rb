# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # The most load that each setting can take while goals hold.
      class Capacity < Base
        # @param capacities [Array<Predict::Capacity>] of the same goals
        def initialize(capacities)
          @capacities = capacities
        end

        # @return [Blocks::Section, nil]
        def section
          return if @capacities.empty?
          first = @capacities.first
          Section.new(id: "capacity", title: "Capacity: the most load with #{GoalWords.goals(first.goals)}", blocks: [
            Table.new(columns, @capacities.map { |capacity| row(capacity) }, style: "dense"),
            Note.new("Found by bisection, to #{Units.percent(first.tolerance_ratio)}; judged by the " \
              "#{(first.judged_by == :high) ? "upper end of each forecast's interval" : "middle of each forecast"}."),
            *reasons.map { |reason| Note.new("No steady state: #{reason}.") }
          ])
        end

        private

        def asked_per_s = @capacities.first.asked_per_s

        def columns
          [Column.new("workers x threads", short: ""), Column.new("holds with", :figure),
            *percentiles.map { |name| Column.new(name, :duration) },
            *([Column.new("machines for #{Units.rate(asked_per_s)}/s", :count)] if asked_per_s),
            Column.new("fails with", :figure), Column.new("as")]
        end

        def row(capacity)
          forecast = capacity.forecast
          Row.new([capacity.setting, capacity.scenario&.arrivals&.to_s || "nothing",
            *percentiles.map { |name| forecast&.quantile(name)&.value }, *([capacity.machines_count] if asked_per_s),
            capacity.failed_scenario&.arrivals&.to_s, failure(capacity)])
        end

        def percentiles
          @percentiles ||= (%w[p50 p99] | @capacities.first.goals.reject(&:endpoint).map(&:percentile))
            .sort_by { |name| Percentile.ratio(name) }
        end

        # Why there is no steady state is told below.
        def failure(capacity)
          miss = capacity.miss or return "the most that was tried"
          if miss.unsteady
            return Cell.new("no steady state", title: Statements.words(miss.unsteady), style: :unsteady)
          end
          GoalWords.latency(miss.goal, miss.latency_ns)
        end

        def reasons = @capacities.filter_map { |capacity| Statements.words(capacity.failed_forecast&.unsteady) }.uniq
      end
    end
  end
end
