# frozen_string_literal: true

# Studies of CPU against memory without servers: values with a little noise that is the same each time.
module Tradeoffs
  Prove = PumaTuner::Prove
  NOISE = [0, 7, -4, 9, -8, 3, -6, 10].freeze

  module_function

  # @param variants [Hash{String => Array(Numeric, Numeric)}] CPU in µs and PSS in MiB, the baseline first
  # @return [PumaTuner::Tradeoff::Study]
  def study(variants, rounds_count: 8, topology: nil, memory: nil, conditions: {}, warmup: nil, **options)
    trials = (0...rounds_count).flat_map do |round|
      variants.each_with_index.map { |(name, (cpu_us, pss_mib)), index| trial(name, round, index, cpu_us, pss_mib, memory:, conditions:, warmup:) }
    end
    named = variants.keys.map { |name| Prove::Variant.new(name:, factors: topology ? {"topology" => topology} : {}) }
    PumaTuner::Tradeoff::Judge.new(verdict(named, trials), subject: "yjit", **options).call
  end

  def trial(name, round, index, cpu_us, pss_mib, memory:, conditions:, warmup:)
    noise = 1 + NOISE[(round + 3 * index) % NOISE.size] / 1_000.0
    Prove::Trial.new(variant: name, round:, position: index, requests_count: 300, memory: memory || [], conditions:, warmup:,
      values: {"throughput" => 1e6 / cpu_us, "cpu_per_request" => cpu_us * 1_000.0 * noise, "pss" => pss_mib * PumaTuner::Units::MIB * noise})
  end

  def verdict(variants, trials)
    Prove::Judge.new(variants:, trials:, primary: "cpu_per_request", looks: Prove::Looks.fixed(trials.size / variants.size)).call(
      noise: [], load: Prove::TrialLoad.new(generator: "native", connections_count: 4, arrivals: "closed loop, 4 connections", duration_ns: 1_000_000_000), seed: 1,
      machine: PumaTuner::Probe::MachineFacts.read, started_at: "2026-03-02T10:15:00Z", command: "puma_tuner yjit", stopped_because: nil, expectations: []
    )
  end
end
