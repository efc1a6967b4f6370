# frozen_string_literal: true

# Trials without servers.
module Trials
  def self.estimate(value) = PumaTuner::Stats::Estimate.new(value:, low: value, high: value, level_ratio: nil, samples_count: 1)

  def self.forecast(throughput_per_s)
    PumaTuner::Predict::Forecast.new(topology: nil, throughput_per_s: estimate(throughput_per_s), mean_ns: estimate(1), p50_ns: estimate(1),
      p99_ns: estimate(1), gvl_wait_ns: 0, queue_ns: 0, cores_used: 1, memory_bytes: nil, bottleneck: "gvl", closed_forms: nil)
  end

  VARIANTS = [
    PumaTuner::Prove::Variant.new(name: "today", topology: PumaTuner::Topology.parse("1x5"), forecast: forecast(100)),
    PumaTuner::Prove::Variant.new(name: "recommended", topology: PumaTuner::Topology.parse("2x3"), forecast: forecast(200))
  ].freeze

  # Answers at once, with a percent of noise from a seed.
  class FakeRunner
    # @param factor [Numeric] throughput of what is not "today"
    # @param void_at [#include?] the calls whose trial is void
    def initialize(factor: 1.0, void_at: [])
      @factor = factor
      @void_at = void_at
      @calls = 0
      @random = Random.new(7)
    end

    def expected_s = 0.0

    def call(variant, round:, position:)
      throughput_per_s = 100.0 * ((variant.name == "today") ? 1 : @factor) * (1 + @random.rand(-0.005..0.005))
      void_reason = "2 of 10 answers had an unexpected status (500: 2)" if @void_at.include?(@calls)
      @calls += 1
      PumaTuner::Prove::Trial.new(variant: variant.name, round:, position:, throughput_per_s:, mean_ns: 1e9 / throughput_per_s,
        p50_ns: 1e9 / throughput_per_s, p99_ns: 2e9 / throughput_per_s, cpu_per_request_ns: 1_000, pss_bytes: 50_000_000,
        requests_count: 1_000, cpu_pressure_ratio: 0.0, void_reason:)
    end
  end
end
