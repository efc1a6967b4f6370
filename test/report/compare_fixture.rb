# frozen_string_literal: true

require_relative "fleet_fixture"

# Two logs of a server held against each other: an endpoint that got slower, and another mix.
module CompareFixture
  include PumaTuner

  module_function

  def facts(name, day, **others)
    Compare::Facts.new(name:, format: "alb", seen_from: "app", begins_at: "2026-03-0#{day}T10:00:00Z", ends_at: "2026-03-0#{day}T11:59:59Z", requests_count: 43_200, compared_count: 43_100,
      left_out: {"asset" => 1_204, "no_time" => 3}, resolution_ns: Units::NS_PER_MS, **others)
  end

  def row(name, a, b, unit: "ns", label: name, spread: 0.02, **others) = FleetFixture.row(name, label, unit, a, b, spread:, **others)

  def rows
    [row("mean", 64.5e6, 94.0e6, adjusted: 1.03, outcome: :worse), row("p50", 16.8e6, 20.2e6, adjusted: 1.01, outcome: :not_shown), row("p90", 131e6, 241e6, adjusted: 1.08, outcome: :worse),
      row("p99", 855e6, 1.07e9, adjusted: 0.96, outcome: :not_shown), row("failed", 0.002, 0.004, unit: "ratio", label: "status 500 and above", spread: 0.6, outcome: :not_shown),
      row("refused", 0.0, 0.0, unit: "ratio", label: "status 400 to 499", spread: nil), row("rate", 6.0, 7.5, unit: "per_s", label: "requests/s")]
  end

  def endpoints
    [
      Compare::Endpoint.new(endpoint: "GET /articles/:id", a_count: 25_502, b_count: 23_483, reason: nil, rows: [row("mean", 12.0e6, 11.9e6, outcome: :not_shown), row("p50", 10.1e6, 9.93e6, outcome: :not_shown)]),
      Compare::Endpoint.new(endpoint: "GET /articles", a_count: 10_772, b_count: 10_728, reason: nil,
        rows: [row("mean", 48.2e6, 62.3e6, outcome: :worse), row("p99", 162e6, 217e6, spread: nil, outcome: :not_shown)]),
      Compare::Endpoint.new(endpoint: "POST /<b>orders</b>", a_count: 0, b_count: 988, rows: [], reason: :only_in_b),
      Compare::Endpoint.new(endpoint: "GET /about", a_count: 12, b_count: 9, rows: [], reason: :few_requests)
    ]
  end

  def mix
    Fleet::MixShift.new(distance_ratio: 0.048, p_value: 0.000244, shifted: true, p99_at_a_mix: FleetFixture.estimate(0.96, 0.02),
      movers: [Fleet::Mover.new(endpoint: "GET /articles/:id", a_ratio: 0.598, b_ratio: 0.55), Fleet::Mover.new(endpoint: "POST /<b>orders</b>", a_ratio: 0.0, b_ratio: 0.098)])
  end

  def remarks
    [Statement.of(:other_formats, a: "alb", b: "combined"), Statement.of(:left_hours, log: "a", ratio: 0.21), Statement.of(:other_traffic, ratio: FleetFixture.estimate(1.25, 0.02)),
      Statement.of(:other_endpoints, covered_ratio: 0.97), Statement.of(:less_than_days)]
  end

  # @return [Compare::Outcome]
  def outcome(**others)
    Compare::Outcome.new(a: facts("before.log", 2), b: facts("after.log", 3), rows:, endpoints:, mix:, mix_rows: {"mean" => FleetFixture.estimate(1.41, 0.02), "p99" => FleetFixture.estimate(1.3, 0.02)},
      covered_ratio: 0.97, pairing: :hours, span_s: 30, block_s: 600, blocks_count: 12, correlation_s: 42.3, reason: nil, remarks:, command: "puma_tuner compare before.log after.log --top 10 --seed 1",
      started_at: "2026-03-04T00:05:00Z", **others)
  end
end
