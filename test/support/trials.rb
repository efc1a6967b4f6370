# frozen_string_literal: true

# Trials without servers.
module Trials
  def self.estimate(value) = PumaTuner::Stats::Estimate.new(value:, low: value, high: value, level_ratio: nil, samples_count: 1)

  def self.forecast(throughput_per_s)
    nothing = PumaTuner::Predict::Forecast.members.to_h { |member| [member, nil] }
    PumaTuner::Predict::Forecast.new(**nothing, throughput_per_s: estimate(throughput_per_s), mean_ns: estimate(1), p50_ns: estimate(1), p99_ns: estimate(1))
  end

  VARIANTS = [
    PumaTuner::Prove::Variant.new(name: "today", factors: {"topology" => "1x5"}, forecast: forecast(100)),
    PumaTuner::Prove::Variant.new(name: "recommended", factors: {"topology" => "2x3"}, forecast: forecast(200))
  ].freeze

  # Answers at once, with a percent of noise from a seed.
  class FakeRunner
    # @param factor [Numeric] throughput of what is not "today"
    # @param void_at [#include?] the calls whose trial is void
    # @param noise_ratio [Float] values lie within this much of the truth
    # @param facts [#call, nil] variant, round -> further fields of its trial
    def initialize(factor: 1.0, void_at: [], noise_ratio: 0.005, seed: 7, facts: nil)
      @factor = factor
      @void_at = void_at
      @noise_ratio = noise_ratio
      @facts = facts || ->(_variant, _round) { {} }
      @calls = 0
      @random = Random.new(seed)
    end

    def expected_s = 0.0

    def call(variant, round:, position:)
      void = PumaTuner::Prove::Void.failed("2 of 10 responses had an unexpected status (500: 2)") if @void_at.include?(@calls)
      @calls += 1
      PumaTuner::Prove::Trial.new(variant: variant.name, round:, position:, values: values(variant), requests_count: 1_000, void:,
        **@facts.call(variant, round))
    end

    private

    # What is quicker takes less of everything; memory it takes as much.
    def values(variant)
      speed = (variant.name == "today") ? 1 : @factor
      {
        "throughput" => noisy(100.0 * speed), "p50" => noisy(1e7 / speed), "p99" => noisy(2e7 / speed),
        "cpu_per_request" => noisy(1e6 / speed), "pss" => noisy(5e7)
      }
    end

    def noisy(truth) = truth * (1 + @random.rand(-@noise_ratio..@noise_ratio))
  end
end
