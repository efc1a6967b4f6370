# frozen_string_literal: true

module PumaTuner
  module Advise
    # The cheapest setting that still meets the goals when one of its workers has gone (N-1).
    #
    # memory_bytes: of it with all workers, nil where unknown; degraded: Forecast of one worker less under the same load
    Spare = Document.define(:topology, :memory_bytes, :degraded,
      nested: {topology: Topology, degraded: Predict::Forecast})

    # What it takes to meet goals.
    #
    # goals: Array<Goal>; arrivals: Model::Arrivals, the whole load that they are about
    # machines_count: how many machines with the recommended setting that load needs, each with the limits of one; nil
    #   when nothing meets the goals
    # forecast: of the cheapest setting that meets them, under one machine's share of the load; nil when none does
    # capacity: Predict::Capacity, the most that it bears with the margin that all goals have: the upper end of the
    #   forecast's interval; breaking: the same by the forecast's middle, from where on a goal is likely missed
    # spare: nil when nothing within the limits survives the loss of a worker
    # nearest: Forecast, and miss: Predict::Miss, of what comes nearest to the goals where nothing meets them; miss is
    #   nil, too, where nothing keeps to the limits
    Sizing = Document.define(:goals, :arrivals, :machines_count, :forecast, :capacity, :breaking, :spare, :nearest,
      :miss,
      nested: {goals: [Goal], arrivals: Model::Arrivals, forecast: Predict::Forecast, capacity: Predict::Capacity,
               breaking: Predict::Capacity, spare: Spare, nearest: Predict::Forecast, miss: Predict::Miss}) do
      def initialize(machines_count: nil, forecast: nil, capacity: nil, breaking: nil, spare: nil, nearest: nil,
        miss: nil, **fields)
        super
      end

      def met? = !forecast.nil?
    end

    # Finds what it takes to meet goals: on how many machines, with which setting, with how much room.
    class Sizer
      # @param constraints [Constraints] with goals
      # @param forecaster [#call] Predict::Scenario -> Predict::Forecast
      def initialize(constraints, forecaster:)
        @constraints = constraints
        @forecaster = forecaster
      end

      # @param sweep [Predict::Sweep] of the whole load on one machine
      # @return [Integer, nil] machines that an open load needs; 1 where one does, and of a closed one; nil when there
      #   is no load at which a setting within the limits meets the goals
      def machines_count(sweep)
        choice = Choice.new(sweep, @constraints)
        return 1 if choice.allowed.any? || !choice.open?
        cheapest_many(choice)
      end

      # @param sweep [Predict::Sweep] of one machine's share of the load
      # @param arrivals [Model::Arrivals] the whole load
      # @param machines_count [Integer, nil] as above
      # @return [Sizing]
      def call(sweep, arrivals:, machines_count:)
        choice = Choice.new(sweep, @constraints.of_each(machines_count || 1))
        asked = {goals: @constraints.goals, arrivals: arrivals.summary}
        chosen = choice.cheapest
        return Sizing.new(**asked, **nearest(choice)) unless chosen
        capacity = capacity(chosen, chosen.throughput_per_s.value)
        Sizing.new(**asked, machines_count:, forecast: chosen, capacity:, spare: spare(choice),
          breaking: capacity(chosen, capacity.rate_per_s || chosen.throughput_per_s.value, judged_by: :value))
      end

      private

      def capacity(cell, rate_per_s, judged_by: :high)
        Predict::CapacitySearch.new(goals: @constraints.goals, forecaster: @forecaster, judged_by:)
          .call(cell.scenario.at_rate(rate_per_s))
      end

      # How many of each setting's machines the load needs takes a search for each. Those that by the formula's bound,
      # which no server exceeds, can't be cheaper than what was found are left out.
      def cheapest_many(choice)
        best = nil
        least = choice.affordable.to_h { |cell| [cell, machines(cell, cell.closed_forms.bound_per_s)] }
        choice.in_order_of_price(choice.affordable).sort_by { |cell| total(choice, cell, least[cell]) }.each do |cell|
          next if best && (total(choice, cell, least[cell]) <=> best.first) >= 0
          rate_per_s = capacity(cell, cell.scenario.arrivals.rate_per_s / least[cell]).rate_per_s or next
          count = machines(cell, rate_per_s)
          found = [total(choice, cell, count), count]
          next unless choice.constraints.of_each(count).affords?(cell, memory_bytes: choice.counted_bytes(cell))
          best = found if best.nil? || (found <=> best) < 0
        end
        best&.last
      end

      def machines(cell, rate_per_s) = (cell.scenario.arrivals.rate_per_s / rate_per_s).ceil

      # Of all machines together.
      def total(choice, cell, count) = [choice.price(cell).first * count, count, cell.topology.slots_count]

      # What comes nearest is told at the load that was asked for, and where that has no steady state, at next to none.
      def nearest(choice)
        cells = choice.affordable
        return {nearest: choice.in_order_of_price(choice.cells).first} if cells.empty?
        cells = cells.map { |cell| @forecaster.call(hardly_loaded(cell)) } if cells.none?(&:steady?)
        found = cells.min_by { |cell| cell.miss(@constraints.goals)&.excess_ratio || 0 }
        {nearest: found, miss: found.miss(@constraints.goals)}
      end

      # The same setting where requests hardly ever meet.
      def hardly_loaded(cell)
        rate_per_s = cell.closed_forms.bound_per_s * Predict::CapacitySearch::LEAST_BOUND_RATIO
        cell.scenario.at_rate([rate_per_s, Predict::CapacitySearch::RATES_PER_S.begin].max)
      end

      # A master starts a new worker for one that has gone, which takes as long as the app takes to boot; meanwhile the
      # others have the whole load. A single process that has gone leaves nobody.
      def spare(choice)
        choice.in_order_of_price(choice.affordable).each do |cell|
          next if cell.topology.workers_count < 2
          topology = cell.topology.with(workers_count: cell.topology.workers_count - 1)
          degraded = choice.cells.find { |other| other.topology == topology } ||
            @forecaster.call(cell.scenario.with(topology:))
          next if degraded.miss(@constraints.goals)
          return Spare.new(topology: cell.topology, memory_bytes: cell.memory_bytes, degraded:)
        end
        nil
      end
    end
  end
end
