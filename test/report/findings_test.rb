# frozen_string_literal: true

require "test_helper"
require_relative "proof_fixture"

class ReportFindingsTest < TunerTest
  Report = PumaTuner::Report

  # @param fields [Hash] of the primary comparison
  def findings(verdict = ProofFixture.gems, **fields)
    first, *others = verdict.comparisons
    contents = Report::Contents.of(verdict.with(comparisons: [first.with(**fields), *others]))
    Report::Findings.new(contents, contents.other_cells.first)
  end

  def ratio(value, low, high, level_ratio: 0.95) = PumaTuner::Stats::Estimate.new(value:, low:, high:, level_ratio:, samples_count: 12)

  test "a better variant is named with its ratio" do
    assert_equal "json 2.8.1 (gem.json=2.8.1) is better than json 2.7.2 (gem.json=2.7.2) in requests/s: 1.142x (1.131–1.153), " \
      "98% interval of 12 paired rounds.", findings.sentence
    assert_equal "json 2.8.1 is better than json 2.7.2 in requests/s", findings.title
  end

  test "a worse variant is named as such" do
    assert_includes findings(ratio: ratio(0.9, 0.88, 0.92), outcome: :worse).sentence, "is worse than json 2.7.2 (gem.json=2.7.2) in requests/s: 0.90x (0.88–0.92)"
  end

  test "an equivalent variant is named with the margin" do
    assert_match(/\A.* and .* are equivalent in requests\/s: 1\.001x .*, inside 1 ± 2\.0%\.\z/, findings(ratio: ratio(1.001, 0.995, 1.006), outcome: :equivalent).sentence)
  end

  test "the minimum detectable effect stands where no difference was shown" do
    sentence = findings(ratio: ratio(1.004, 0.98, 1.03), outcome: :not_shown).sentence
    assert_match(/\ANo difference shown between /, sentence)
    assert_includes sentence, "Minimum detectable effect: a change of 1.2% (80% power)."
    refute_includes findings(ratio: ratio(1.0, 0.9, 1.1), mde_ratio: nil, outcome: :not_shown).sentence, "detectable"
  end

  test "too few rounds claim nothing" do
    sentence = findings(ratio: ratio(1.2, 1.1, 1.3, level_ratio: nil), outcome: :not_shown).sentence
    assert_includes sentence, "1.20x (1.10–1.30), range of 12 paired rounds. So few rounds show nothing"
  end

  test "the other metrics are told by outcome, with how much where it differs" do
    assert_operator findings.others, :start_with?, "Also better: p50 0.874x (0.864–0.884), p90 "
    assert_operator findings.others, :end_with?, "; worse: memory (PSS) 1.031x (1.022–1.040); equivalent: objects per request; " \
      "no difference shown: p99, GC per request, boot."
    primary_only = ProofFixture.gems.then { |verdict| verdict.with(comparisons: verdict.comparisons.first(1)) }
    assert_nil findings(primary_only).others
  end

  test "the same settings twice tell the noise, and two with equal topologies are not the same settings" do
    same = TuningFixture.verdict_of_the_same
    assert_includes findings(same).sentence, "Both have the same settings"
    refute_includes findings.sentence, "Both have the same settings"
  end

  test "a report on several is called after the baseline, and one on none is not called so" do
    assert_equal "5 variants measured against yjit=on threads=3", Report::Findings.title(Report::Contents.of(ProofFixture.factorial))
    assert_nil Report::Findings.title(Report::Contents.of(TuningFixture.sweep))
  end
end
