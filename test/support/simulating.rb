# frozen_string_literal: true

require_relative "builders"
require_relative "oracles"
require "oracles/simulation"

# One simulation, and requests whose times theory knows how to treat. Beside Builders.
module Simulating
  include PumaTuner

  def simulate(workload, text, arrivals: workload.arrivals, seed: 1, requests_count: 2_000, on: machine, stations: [], resample: false, **settings)
    Predict::Engine.call(Predict::Plan.new(workload:, machine: on, scenario: scenario(text, arrivals, **settings), seed:, requests_count:, stations:, resample:))
  end

  # @param means_ms [Array<Numeric>] bursts and waits in turn, each exponential with that mean
  def exponential_endpoint(*means_ms, random: Random.new(17), count: 3_000, **others)
    columns = means_ms.map { |mean_ms| mean_ms.zero? ? [0] * count : Oracles.exponential(count, mean_ms.to_f, random) }
    endpoint_demand(*columns.transpose.map { |steps| demand(steps.values_at(*(0...steps.size).step(2)), steps.values_at(*(1...steps.size).step(2)), **others) })
  end

  # From the very beginning, with everybody idle, for schedules that are made by hand.
  #
  # @return [Predict::Outcome] of the requests that were answered first
  def simulate_from_start(workload, text, arrivals: workload.arrivals, seed: 1, requests_count: 1, on: machine, **settings)
    plan = Predict::Plan.new(workload:, machine: on, scenario: scenario(text, arrivals, **settings), seed:, requests_count:, resample: false)
    Predict::Outcome.of(Predict::Core.run({**plan.to_h, warm_up_count: 0}))
  end

  # @param firsts [Array<Boolean>] of each request in turn, whether it is of the first of two endpoints, with one demand each
  # @return [Integer] by which they are drawn like that
  def seed_of(firsts, first_ratio:)
    (1..).find do |seed|
      stream = SimulationTwin::RandomStream.new(seed, 1)
      firsts.all? { |first| ((stream.fraction < first_ratio) == first).tap { stream.below(1) } }
    end
  end

  # Steps of one request: milliseconds of CPU, or [kind of wait, milliseconds or a lock's index].
  def steps(*steps)
    bursts_ms = [0]
    waits = []
    steps.each do |step|
      next bursts_ms[-1] += step unless step.is_a?(Array)
      waits << step
      bursts_ms << 0
    end
    demand(bursts_ms, waits.map(&:last), wait_kinds: waits.map(&:first))
  end
end
