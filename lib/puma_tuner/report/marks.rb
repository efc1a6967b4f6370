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

      # @return [Boolean] whether there is a proof
      def proven? = @cells.any?

      # @return [Array<String>] "today", "recommended", "rule of thumb"
      def of(topology)
        [*of_settings(topology), *("rule of thumb" if rule_of_thumb?(topology))]
      end

      # @return [Array<String>] of these, "today" and "recommended"
      def of_settings(topology) = [("today" if topology == @today), ("recommended" if topology == @recommended)].compact

      # @param grid [Grid]
      # @return [Array<String>] the same, and what the best of a grid is
      def in_grid(grid, forecast) = [*of(forecast.topology), *(grid.best_word if forecast.equal?(grid.best))]

      # The proof's load is the recording's: forecasts for another, or for other settings, were not measured.
      #
      # @param forecast [Predict::Forecast]
      # @return [Prove::Cell, nil] what the proof measured of it
      def measured(forecast)
        return unless proven? && @sweep.at(forecast.topology).equal?(forecast)
        @cells.find { |cell| cell.topology == forecast.topology }
      end

      # The rule knows threads only; it is marked at the workers that are recommended, or else today's.
      def rule_of_thumb?(topology)
        topology.threads_count == @sweep&.rule_of_thumb_threads_count &&
          topology.workers_count == (@recommended || @today)&.workers_count
      end

      # @param grid [Grid]
      # @return [Array<Predict::Forecast>] marked, measured, or the best
      def interesting(grid)
        grid.forecasts.select do |forecast|
          of(forecast.topology).any? || measured(forecast) || forecast.equal?(grid.best)
        end
      end

      # @param grid [Grid]
      # @return [Array<Predict::Forecast>] whose time is worth a look: today's, the recommended and the best
      def explained(grid)
        grid.steady.select do |forecast|
          [@today, @recommended].include?(forecast.topology) || forecast.equal?(grid.best)
        end
      end
    end
  end
end
