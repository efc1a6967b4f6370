# frozen_string_literal: true

module PumaTuner
  module Predict
    # Finds a Capacity by bisection: the load is doubled (or halved) until the goals hold
    # on one side and fail on the other, then the gap is halved until it is within the
    # tolerance. Some twelve forecasts, where a grid as fine would take hundreds.
    #
    # It rests on two things: latency grows with the load, and all forecasts have the same seeds, so that the same
    # search always ends at the same load.
    class CapacitySearch
      # The failed load is at most this much more than what holds.
      TOLERANCE_RATIO = 0.02

      # Counted in each simulation, at least: near the limit queues take long to show that they grow.
      REQUESTS_COUNT = 10_000

      # No load generator sends more, and no app is asked for less.
      RATES_PER_S = 0.01..200_000.0

      # At this share of the first rate, or of what the formulas let a server bear, requests hardly ever meet: what
      # takes too long there is the requests' own time, which no lower rate makes shorter, and simulations of idle
      # servers take long. A judgement.
      LEAST_BOUND_RATIO = 0.001

      # A load that was tried. miss: nil when all goals held
      Attempt = Data.define(:level, :scenario, :forecast, :miss)
      private_constant :Attempt

      # @param goals [Array<Goal>]
      # @param forecaster [#call] Scenario -> Forecast
      # @param judged_by [Symbol] see Forecast#miss
      # @param asked_per_s [Float, nil] see Capacity
      def initialize(goals:, forecaster:, judged_by: :high, asked_per_s: nil)
        @asked_per_s = asked_per_s
        @goals = goals
        @judged_by = judged_by
        @forecaster = forecaster
      end

      # @param scenario [Scenario] whose load is varied, starting from what it says
      # @return [Capacity]
      # @raise [UsageError] when no goal can fail
      def call(scenario)
        ensure_latency_limit(scenario.arrivals)
        @scenario = scenario
        @forecasts_count = 0
        @bound_per_s = 0.0
        holds, fails = narrowed(*bracket(attempt(level_of(scenario.arrivals))))
        Capacity.new(goals: @goals, judged_by: @judged_by, forecast: holds&.forecast, failed_forecast: fails&.forecast,
          asked_per_s: @asked_per_s, tolerance_ratio: TOLERANCE_RATIO, forecasts_count: @forecasts_count)
      end

      private

      def ensure_latency_limit(arrivals)
        return if arrivals.open? || @goals.any?
        raise UsageError, "clients that wait for their responses always find a steady state, " \
          "however many there are: give a goal, such as --slo \"99% < 200ms\""
      end

      def open? = @scenario.arrivals.open?

      def levels = open? ? RATES_PER_S : Model::Arrivals::CONNECTIONS_COUNTS

      def level_of(arrivals) = arrivals.open? ? arrivals.rate_per_s : arrivals.connections_count

      def attempt(level)
        arrivals = @scenario.arrivals
        raised = open? ? arrivals.times(level.fdiv(arrivals.rate_per_s)) : arrivals.with(connections_count: level)
        tried = @scenario.with(arrivals: raised)
        forecast = @forecaster.call(tried)
        @forecasts_count += 1
        # Of a low rate the bound is that rate itself.
        @bound_per_s = [@bound_per_s, forecast.closed_forms.bound_per_s].max
        Attempt.new(level:, scenario: tried, forecast:, miss: forecast.miss(@goals, by: @judged_by))
      end

      # @return [Array(Attempt, Attempt)] the most that holds and the least that fails so far; nil where there is none
      def bracket(first)
        holds = first unless first.miss
        fails = first if first.miss
        until holds && fails
          level = holds ? holds.level * 2 : fails.level / 2
          break if !levels.cover?(level) || (open? && level < @bound_per_s * LEAST_BOUND_RATIO)
          tried = attempt(level)
          tried.miss ? fails = tried : holds = tried
        end
        [holds, fails]
      end

      def narrowed(holds, fails)
        while holds && fails && wide?(holds.level, fails.level)
          tried = attempt(between(holds.level, fails.level))
          tried.miss ? fails = tried : holds = tried
        end
        [holds, fails]
      end

      def wide?(low, high)
        return high > low * (1 + TOLERANCE_RATIO) if open?
        high - low > [low * TOLERANCE_RATIO, 1].max
      end

      # Rates by ratio, so that each step halves what is left of the tolerance.
      def between(low, high) = open? ? Math.sqrt(low * high) : (low + high) / 2
    end
  end
end
