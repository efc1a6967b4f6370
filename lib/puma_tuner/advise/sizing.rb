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
  end
end
