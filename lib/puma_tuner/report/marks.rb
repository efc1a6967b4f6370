# frozen_string_literal: true

module PumaTuner
  module Report
    # Which topologies of a sweep are worth pointing at, and why.
    class Marks
      # @param contents [Contents]
      def initialize(contents)
        @sweep = contents.sweep
        @today = contents.today
        @recommended = contents.recommendation&.topology
        @cells = contents.verdict&.cells.to_a
      end

      # @return [Array<String>] "today", "recommended", "rule of thumb"
      def of(topology)
        [
          ("today" if topology == @today),
          ("recommended" if topology == @recommended),
          ("rule of thumb" if rule_of_thumb?(topology))
        ].compact
      end

      # @return [Prove::Cell, nil] what the proof measured of it
      def measured(topology) = @cells.find { |cell| cell.topology == topology }

      # The rule knows threads only; it is marked at the workers that are recommended, or else today's.
      def rule_of_thumb?(topology)
        topology.threads_count == @sweep&.rule_of_thumb_threads_count &&
          topology.workers_count == (@recommended || @today)&.workers_count
      end

      # @return [Predict::Forecast] with the highest throughput
      def fastest = @sweep.forecasts.max_by { |forecast| forecast.throughput_per_s.value }

      # @return [Array<Predict::Forecast>] marked, measured, or the fastest
      def interesting
        @sweep.forecasts.select do |forecast|
          of(forecast.topology).any? || measured(forecast.topology) || forecast == fastest
        end
      end
    end
  end
end
