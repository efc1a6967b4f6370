# frozen_string_literal: true

# A comparison of two groups of servers, as of story 3: YJIT off and on.
module FleetFixture
  include PumaTuner

  MIB = Units::MIB

  module_function

  def estimate(value, spread) = Stats::Estimate.new(value:, low: value - spread, high: value + spread, level_ratio: 0.95, samples_count: 7)

  def group(name, selector, **others)
    Fleet::Group.new(name:, selector:, begins_at: "2026-03-02T00:00:00Z", ends_at: "2026-03-09T00:00:00Z", spans_count: 168, usable_count: 168, compared_count: 166,
      requests_count: 61_234_567, servers_count: 24.0, workers_count: 96.0, restarts_count: nil, **others)
  end

  def row(name, label, unit, a, b, spread: nil, adjusted: nil, error_ratio: nil, outcome: nil)
    Fleet::Row.new(name:, label:, unit:, a:, b:, ratio: spread && estimate(b / a, spread), adjusted: adjusted && estimate(adjusted, spread), error_ratio:, outcome:)
  end

  def rows
    [
      row("p99", "p99", "ns", 549e6, 445e6, spread: 0.03, adjusted: 0.82, error_ratio: 0.058, outcome: :better),
      row("memory", "memory (PSS), sum", "bytes", 64.3 * 1024 * MIB, 84.2 * 1024 * MIB, spread: 0.01, outcome: :worse),
      row("code", "code_region_size, mean", "bytes", nil, 42.9 * MIB),
      row("gvl_wait_per_request", "GVL wait per request", "ns", 12.1e6, 11.9e6, spread: 0.05, adjusted: 0.99, outcome: :not_shown),
      row("throughput", "requests/s", "per_s", 101.0, 102.4, spread: 0.02),
      row("workers", "workers", "count", 96.0, 96.0, spread: 0.0)
    ]
  end

  def mix
    Fleet::MixShift.new(distance_ratio: 0.041, p_value: 0.0156, shifted: true, p99_at_a_mix: estimate(0.84, 0.02),
      movers: [Fleet::Mover.new(endpoint: "GET /items/:id", a_ratio: 0.31, b_ratio: 0.27), Fleet::Mover.new(endpoint: "POST /<b>carts</b>", a_ratio: 0.05, b_ratio: 0.09)])
  end

  def services
    all = {mean_per_s: 80.0, peak_per_s: 130.0, servers_count: 20.0, workers_count: 80.0, threads_per_worker: 5.0, parts: {"cpu" => 0.4, "io" => 0.4, "gvl_wait" => 0.15, "queue" => 0.05},
           rule_threads_count: 2, needed_workers_count: 61, memory_bytes: 40e9, saved_bytes: 9_500_000_000, code_limit_ratio: 0.91}
    [
      Fleet::Service.new(name: "items", **all, advice: ["Too many threads: 5 in a worker where 2 would do; requests spend 15.0% of their time waiting for the GVL."]),
      Fleet::Service.new(name: "auth", **all, rule_threads_count: nil, needed_workers_count: nil, saved_bytes: nil, code_limit_ratio: nil, parts: {}, advice: [])
    ]
  end

  # @return [Fleet::Comparison]
  def comparison(**others)
    Fleet::Comparison.new(url: "http://prometheus.example:9090", source: "rules", a: group("a", '{yjit="off"}'), b: group("b", '{yjit="on"}'), rows:, mix:, services:, block_s: 86_400, blocks_count: 7,
      warnings: ["a: 2 of 168 spans without any sample, left out."], unknown: [PumaTuner::Unknown.of(:metric, :no_sample, whose: "code_region_size, mean")],
      command: "puma_tuner fleet --a \\{yjit\\=\\\"off\\\"\\}", started_at: "2026-03-09T00:05:00Z", **others)
  end
end
