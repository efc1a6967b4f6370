# frozen_string_literal: true

module PumaTuner
  module Advise
    # The topology to recommend: the highest throughput within the constraints, with no more slots than it takes.
    class Choice
      # Cells this close to the best throughput count as equal. Simulated and measured throughput of the same cell differ
      # by 1.5 % in the median and 5 % at most (15 cells of one process on Puma 8), and repeated measurements of one cell
      # by up to 3 %: a smaller difference could not be proved.
      EQUAL_WITHIN_RATIO = 0.03

      # @param sweep [Predict::Sweep]
      # @param constraints [Constraints]
      def initialize(sweep, constraints)
        @sweep = sweep
        @constraints = constraints
      end

      # @return [Predict::Forecast] today's when nothing meets the constraints
      def forecast = @forecast ||= equals.min_by { |cell| [cell.topology.slots_count, cell.p99_ns.value] } || today

      # @return [Predict::Forecast]
      def today = @sweep.at(@sweep.today)

      # @return [Predict::Forecast, nil] with the highest throughput among those that meet the constraints
      def fastest = allowed.max_by { |cell| cell.throughput_per_s.value }

      # @return [Array<Predict::Forecast>] allowed, and as good as the fastest
      def equals
        return [] unless fastest
        least_per_s = fastest.throughput_per_s.value * (1 - EQUAL_WITHIN_RATIO)
        allowed.select { |cell| cell.throughput_per_s.value >= least_per_s }
      end

      # @return [Array<Predict::Forecast>] those that meet the constraints
      def allowed = @allowed ||= @sweep.forecasts.select { |cell| @constraints.met_by?(cell) }

      def stay? = forecast.topology == @sweep.today
    end
  end
end
