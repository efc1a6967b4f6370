# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

# How a proof of advice looks.
class ReportAdviceChecksTest < TunerTest
  include PumaTuner

  def estimate(low, value, high) = Stats::Estimate.new(value:, low:, high:, level_ratio: 0.95, samples_count: 6)

  def measured(**)
    Advise::Measured.new(rule: "affinity", lines: {}, topology: nil, today: Topology.parse("1x5"), metric: "throughput", ratio: estimate(0.97, 1.01, 1.05),
      predicted: estimate(1.2, 1.3, 1.4), outcome: :not_shown, measured_at: "2026-03-02T10:16:00Z", **)
  end

  def tuning
    checks = [AdviceCheck.new(rule: "affinity", variant: "affinity", measured:), AdviceCheck.new(rule: "lock_bound", reason: Statement.of(:no_lines)),
      AdviceCheck.new(rule: "malloc", variant: "malloc", measured: measured.with(rule: "malloc", metric: "pss", ratio: nil, predicted: nil, outcome: :fails))]
    TuningFixture.tuning(verdict: TuningFixture.verdict(other: "affinity", other_topology: "1x5", factor: 1.01), checks:)
  end

  def text = Report.render(tuning, format: :text).squeeze(" ")

  test "each advice has a line with what was predicted and measured, and what was not is told with the reason" do
    assert_match(%r{^ affinity requests/s 1\.30x \(1\.20–1\.40\) 1\.01x \(0\.97–1\.05\) not shown no$}, text)
    assert_match(/^ malloc memory \(PSS\) - - failed -$/, text)
    assert_match(/Not measured by itself:\s+- lock_bound: it has nothing to set/, text)
  end

  test "a variant of today's topology is not taken for the recommended one" do
    stay = TuningFixture.tuning.advice_list.with(advice: [TuningFixture.stay])
    assert_nil Report::Contents.of(tuning.with(advice_list: stay)).recommended_cell
  end

  test "a page and a document have the same" do
    assert_includes Report.render(tuning, format: :html), "Each advice against today"
    assert_equal tuning.checks, Document.parse(Document.dump(tuning), "it", [:tuning]).checks
  end

  test "a tuning without checks has no such section" do
    refute_includes Report.render(TuningFixture.tuning, format: :text), "Each advice"
  end
end
