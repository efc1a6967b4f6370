# frozen_string_literal: true

require "support/builders"

# Recordings made by simulation, so that it is known what made them.
module Recordings
  include Builders

  # Requests that differ, as those of real apps do.
  #
  # @param cpu_factor [Float]
  # @param lock_ms [Numeric] that each waits for a lock
  def varied_workload(cpu_factor: 1, lock_ms: 0, **fields)
    random = Random.new(3)
    demands = Array.new(120) do
      bursts = [random.rand(1.0..3.0) * cpu_factor, cpu_factor]
      waits = [random.rand(5.0..20.0), *(lock_ms if lock_ms.positive?)]
      demand([*bursts, *(1 if lock_ms.positive?)], waits, wait_kinds: %w[io lock].first(waits.size))
    end
    workload(endpoints: [endpoint_demand(*demands)], **fields)
  end

  # @param truth [Model::Workload] what the app really demands
  # @param stations [Array<Predict::Station>] what it really waits for
  # @return [Model::Recorded]
  def recording(truth, text, connections_count: 10, requests_count: 3_000, stations: [], seed: 99)
    arrivals = Model::Arrivals.closed(connections_count)
    outcome = Predict::Engine.call(Predict::Plan.new(workload: truth, machine: machine(cores_count: 4), scenario: scenario(text, arrivals), seed:, requests_count:, stations:, resample: false))
    Model::Recorded.new(topology: topology(text), arrivals:, throughput_per_s: outcome.throughput_per_s, p50_ns: outcome.quantile_ns(0.5), p99_ns: outcome.quantile_ns(0.99),
      requests_count:, duration_ns: outcome.duration_ns, budget: budget_of(outcome.means, requests_count))
  end

  def budget_of(means, requests_count)
    parts = %i[queue gvl_wait cpu preempted io lock sleep gc].to_h { |part| [:"#{part}_ns", (means.fetch(part) * requests_count).round] }
    Probe::Budget.zero.with(**parts, wall_ns: parts.values.sum)
  end

  # @param recorded [Array<Model::Recorded>]
  def sweep_of(workload, *recorded, texts: %w[1x1 1x2 1x4 1x8 2x1 2x4], **options)
    Predict::Sweeper.new(workload: workload.with(recorded:), machine: machine(cores_count: 4), seed: 1, requests_count: 2_000, **options)
      .call(texts.map { |text| scenario(text) })
  end
end
