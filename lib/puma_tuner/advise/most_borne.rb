# frozen_string_literal: true

module PumaTuner
  module Advise
    # Finds the setting that bears the most of an open load that none bears whole: with as many clients as leave no
    # thread without work, its throughput is the highest.
    class MostBorne
      # throughput_per_s: Estimate of what it bears; throughput_ratio: the same over today's; machines_count: how many
      # such machines the load takes, each with what it bears for sure, or in the middle where nothing is sure
      Found = Data.define(:topology, :throughput_per_s, :throughput_ratio, :machines_count)

      # So many clients for each thread of the largest setting.
      CLIENTS_PER_SLOT_COUNT = 2

      # @param situation [Situation]
      # @param choice [Choice] of an open load
      def initialize(situation, choice)
        @situation = situation
        @choice = choice
      end

      # @return [Found, nil] of those as good as the best the one with the fewest slots; nil where that is today's,
      #   where nobody can promise that it bears more than today's, or where nothing can be forecast
      def call
        today = forecast(@choice.today) or return
        found = as_good_as_the_best.min_by { |one| one.topology.slots_count }
        return if found.nil? || found.topology == today.topology
        throughput_ratio = @choice.ratio(found, today, :throughput_per_s)
        return unless throughput_ratio.low > 1
        per_s = found.throughput_per_s
        Found.new(topology: found.topology, throughput_per_s: per_s, throughput_ratio:,
          machines_count: (@choice.today.scenario.arrivals.rate_per_s / sure(per_s)).ceil)
      end

      private

      # The low end of an interval of two simulations may be 0.
      def sure(estimate) = [estimate.low, estimate.value].find(&:positive?)

      # Those that by the formula's bound, which no server exceeds, are no better than what was found are left out.
      def as_good_as_the_best
        forecasts = []
        least_per_s = 0
        @choice.affordable.sort_by { |cell| -cell.closed_forms.bound_per_s }.each do |cell|
          break if cell.closed_forms.bound_per_s < least_per_s
          forecasts << (forecast(cell) or next)
          least_per_s = forecasts.map { |one| one.throughput_per_s.value }.max * (1 - Choice::EQUAL_WITHIN_RATIO)
        end
        forecasts.select { |one| one.throughput_per_s.value >= least_per_s }
      end

      def forecast(cell) = @situation.alternative(topology: cell.topology, arrivals:)

      def arrivals
        slots_count = @choice.cells.map { |cell| cell.topology.slots_count }.max
        @arrivals ||= Model::Arrivals.closed(CLIENTS_PER_SLOT_COUNT * slots_count)
      end
    end
  end
end
