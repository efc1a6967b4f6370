# frozen_string_literal: true

module PumaTuner
  module Report
    # Goals, and what misses them, in words.
    module GoalWords
      module_function

      # @param goals [Array<Goal>]
      # @return [String] "90% < 300 ms and 99% < 1 s"
      def goals(goals) = goals.empty? ? "a steady state" : Figures.list(goals.map(&:to_s))

      # @param goal [Goal]
      # @param estimate [Stats::Estimate, nil]
      # @return [String] "90% would take 310 ms (290–335)"
      def latency(goal, estimate)
        whose = "of #{goal.endpoint} " if goal.endpoint
        return "too few requests #{whose}were simulated to tell how long #{goal.percent} would take" unless estimate
        "#{goal.percent} #{whose}would take #{Figures.with_range(estimate) { |ns| Units.duration(ns) }}" \
          "#{", too long at its upper end" if goal.limit_ns.between?(estimate.value, estimate.high)}"
      end

      # @param attainment [Stats::Attainment]
      # @return [String] "met: 93.1% (92.6–93.5) of 12,345 requests took less"
      def attainment(attainment)
        share = Figures.with_range(attainment.share) { |ratio| Units.percent(ratio) }
        "#{attainment.met? ? "met" : "missed"}: #{share} of " \
          "#{Figures.counted(attainment.share.samples_count.round, "request")} took less"
      end

      # @param sizing [Advise::Sizing]
      # @return [String] "90% < 300 ms, with 120/s: 2x3 meets it, and bears 165/s"
      def in_short(sizing)
        asked = "#{goals(sizing.goals)}, with #{sizing.arrivals}"
        return "#{asked}: no setting predicted meets it" unless sizing.met?
        machines = "#{Figures.count(sizing.machines_count)} machines of " if sizing.machines_count > 1
        bears = ", and #{machines ? "each bears" : "bears"} #{Units.rate(sizing.capacity.rate_per_s)}/s"
        "#{asked}: #{machines}#{sizing.forecast.topology} #{machines ? "meet" : "meets"} it" \
          "#{bears if sizing.capacity.rate_per_s}"
      end

      # @param miss [Predict::Miss]
      # @return [String] a clause
      def miss(miss)
        return latency(miss.goal, miss.latency_ns) unless miss.unsteady
        "there is no steady state: #{Statements.words(miss.unsteady)}"
      end
    end
  end
end
