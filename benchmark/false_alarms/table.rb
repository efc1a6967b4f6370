# frozen_string_literal: true

require_relative "../support/markdown"

module FalseAlarms
  # Tallies as tables; per cent, unless said otherwise.
  module Table
    class << self
      # @param simulation [Simulation]
      # @return [String]
      def fixed(simulation)
        counts = Simulation::ROUNDS_COUNTS
        groups = {false_alarm: "false alarms", shown: "shows 3 %", covered: "holds it"}
        headings = groups.values.flat_map { |title| ["#{title}, #{counts.first} rounds", *counts.drop(1).map(&:to_s)] }
        rows = Methods::ALL.map do |method|
          [method::TITLE, *groups.keys.product(counts).map { |name, count| percent(simulation.fixed(method, count)[name]) }]
        end
        Accuracy::Markdown.table(["", *headings], rows)
      end

      # @param simulation [Simulation]
      # @return [String]
      def plans(simulation)
        rows = Plans::ALL.map do |plan|
          tally = simulation.plan(plan)
          [plan::TITLE, *%i[false_alarm shown covered].map { |name| percent(tally[name]) },
            *%i[rounds_of_equals rounds_of_others].map { |name| format("%.1f", tally[name]) }]
        end
        Accuracy::Markdown.table(["", "false alarms", "shows 3 %", "holds it", "rounds, of equals", "rounds, of 3 %"], rows)
      end

      # @param tail [Tail]
      # @return [String]
      def tail(tail)
        rows = Tail::TITLES.map { |name, title| [title, percent(tail.tally(name)[:false_alarm]), percent(tail.tally(name)[:shown])] }
        Accuracy::Markdown.table(["", "false alarms", "shows 10 %"], rows)
      end

      # @param simulations [Array<Neighbour::Simulation>]
      # @return [String]
      def beside(simulations)
        rows = simulations.map do |simulation|
          tally = simulation.tally
          [simulation.neighbour.name, *%i[false_alarm shown covered].map { |name| percent(tally[name]) }, format("%.2f", tally[:again])]
        end
        Accuracy::Markdown.table(["", "false alarms", "shows 10 %", "holds it", "rounds run again"], rows)
      end

      private

      def percent(ratio) = format("%.1f", ratio * 100)
    end
  end
end
