# frozen_string_literal: true

module PumaTuner
  module Advise
    # The topology to recommend: the best within the constraints, with no more slots than it takes. The best is the one with the
    # highest throughput; in an open loop, where throughput is the load's own rate, the one with the lowest p99.
    class Choice
      # Cells this close to the best throughput count as equal. Simulated and measured throughput of the same cell differ
      # by 2.6 % in the median (docs/validation.md, corrected for the machine's speed), and repeated measurements of one
      # cell by up to 3 %: a smaller difference could not be proved.
      EQUAL_WITHIN_RATIO = 0.03

      # The same of the p99 in an open loop. Forecasts of it miss by about so much; their intervals are wider, but what the model gets
      # wrong it gets wrong in all cells alike.
      EQUAL_P99_WITHIN_RATIO = 0.1

      # @param sweep [Predict::Sweep]
      # @param constraints [Constraints]
      def initialize(sweep, constraints)
        @sweep = sweep
        @constraints = constraints
      end

      # @return [Predict::Forecast, nil] today's when nothing meets the constraints; nil when that has no steady state either
      def forecast
        @forecast ||= equals.min_by { |cell| [cell.topology.slots_count, cell.p99_ns.value] } || (today if today.steady?)
      end

      # @return [Predict::Forecast]
      def today = @sweep.at(@sweep.today)

      # @return [Array<Predict::Forecast>] that differ from today's in nothing but the topology: with the recording's arrivals,
      #   where they were simulated
      def cells = @cells ||= @sweep.forecasts.select { |cell| beside_topology(cell) == beside_topology(today) }

      # @return [Predict::Forecast, nil] of those that meet the constraints
      def best = open? ? allowed.min_by { |cell| cell.p99_ns.value } : allowed.max_by { |cell| cell.throughput_per_s.value }

      # @return [Boolean] whether requests arrive whatever the server does
      def open? = today.scenario.arrivals.open?

      # @return [Array<Predict::Forecast>] allowed, and as good as the best
      def equals
        return [] unless best
        return allowed.select { |cell| cell.p99_ns.value <= best.p99_ns.value * (1 + EQUAL_P99_WITHIN_RATIO) } if open?
        least_per_s = best.throughput_per_s.value * (1 - EQUAL_WITHIN_RATIO)
        allowed.select { |cell| cell.throughput_per_s.value >= least_per_s }
      end

      # @return [Array<Predict::Forecast>] those that meet the constraints
      def allowed = @allowed ||= cells.select { |cell| @constraints.met_by?(cell) }

      def stay? = !forecast.nil? && forecast.topology == @sweep.today

      private

      def beside_topology(cell) = cell.scenario.with(topology: nil, min_threads_count: nil)
    end
  end
end
