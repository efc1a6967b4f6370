# frozen_string_literal: true

require "report/proof_fixture"

# A lab's finding by hand, with each outcome that there is. Nothing here comes from a machine.
module FindingFixture
  include PumaTuner

  module_function

  def ratio(value, spread, level_ratio: 0.96) = Stats::Estimate.new(value:, low: value - spread, high: value + spread, level_ratio:, samples_count: 6)

  # @return [Array<PumaTuner::Lab::Claim>]
  def claims
    [
      Lab::Claim.of_ratio("the cure makes the query faster", ratio(1.25, 0.05), published: "6.782 → 8.633 iterations/s", published_ratio: 1.27),
      Lab::Claim.of_ratio("a hit is faster", ratio(2.5, 0.1), published: "nearly 3x", published_ratio: 3.0, note: "on a stored nil"),
      Lab::Claim.of_ratio("fewer objects", ratio(1.1, 0.02), published: "-58%", published_ratio: 0.42),
      Lab::Claim.of_ratio("faster with YJIT", ratio(1.11, 0.13), published_ratio: 1.3),
      Lab::Claim.of_ratio("Execution::Next beside MiddlewareChain#initialize, Ruby 3.4.5, YJIT MMMMM", ratio(0.7, 0.05)),
      Lab::Claim.of_ratio("the longer query", nil, published: "66 → 54 ms", published_ratio: 1.22),
      Lab::Claim.of_count("locks per query", expected: 44_528, counted: 44_528, published: "44,528"),
      Lab::Claim.of_count("locks per query, cured", expected: 0, counted: 3),
      Lab::Claim.of_number("time per query", ratio(48_500_000.0, 500_000.0), unit: "ns", published: "about 200 ms")
    ]
  end

  # @return [PumaTuner::Lab::Chart] two lines over versions that have names
  def chart
    points = ->(factor) { [[0, 10.0 * factor, 9.5 * factor, 10.5 * factor], [1, 4.0 * factor, 3.5 * factor, 4.5 * factor], [2, 6.0 * factor, nil, nil]] }
    Lab::Chart.new(id: "line", title: "From version to version", reading: "higher is faster", up: Lab::Axis.new(name: "CPU per query", unit: "ms"),
      across: Lab::Axis.new(name: "version", ticks: [[0, "1.1.6"], [1, "1.1.7 <b>"], [2, "a version with a name that is long"]]),
      series: [Lab::Series.new(title: "YJIT off", points: points.call(1)), Lab::Series.new(title: "YJIT on", points: points.call(0.5))])
  end

  # @return [PumaTuner::Lab::Finding]
  def finding(**fields)
    Lab::Finding.new(lab: "falsy_cache", title: "A lock on every cached nil", question: "What does it cost?", quick: true, claims:, charts: [chart],
      tables: [Lab::Table.new(title: "Calls per query", headings: ["method", "calls", "where"], rows: [["Map#<get>", "44,528", "by | lazy?"], ["Mutex#lock", "0", "nowhere"]], notes: ["Counted by ruby-prof."])],
      conclusions: ["The query takes 44,528 locks.", "The cure makes it 1.25x (1.20–1.30) as fast."], verdicts: {"parent query" => ProofFixture.blocks}, machine: TuningFixture.observation.machine,
      command: "puma_tuner lab run falsy_cache --quick", started_at: "2026-01-01T00:00:00Z", unknown: {"YJIT" => "the short form leaves it out"}, **fields)
  end
end
