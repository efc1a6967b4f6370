# frozen_string_literal: true

require "test_helper"
require "json"
require "report/proof_fixture"

# What follows from a verdict, as values.
class FindingTest < TunerTest
  test "a finding tells the outcome, where the forecast lies, and the other metrics by outcome" do
    found = TuningFixture.verdict.findings.first
    assert_equal ["recommended", :better, :inside, false, false],
      [found.variant, found.outcome, found.prediction, found.failing, found.same_settings]
    assert_equal({better: %w[p50 p99], not_shown: %w[cpu_per_request]}, found.others)
    assert_equal [["p99"], ["p99"]], ProofFixture.gems.findings.first.then { |one| [one.by_chance, one.disagreeing] }
    assert TuningFixture.verdict_of_the_same.findings.first.same_settings
  end

  test "a finding has the rounds that significance takes beside those there were" do
    needed = TuningFixture.verdict.rounds_needed
    assert_equal [6, 7, true, false], [needed.interval_count, needed.others_count, needed.intervals, needed.others_enough]
    assert ProofFixture.gems.rounds_needed.others_enough
    assert_nil TuningFixture.verdict.with(comparisons: []).rounds_needed.others_count
  end

  test "a verdict's JSON has findings, causes and the rounds needed, and is read as before" do
    json = PumaTuner::Document.dump(ProofFixture.gems)
    fields = JSON.parse(json)
    assert_equal "better", fields.dig("findings", 0, "outcome")
    assert_equal ["gvl_wait", "cpu"], fields.dig("causes", 0).values_at("main", "behind")
    assert_equal 10, fields.dig("causes", 0, "parts").size + fields.dig("causes", 0, "unknown").size + 1
    assert_operator fields.dig("rounds_needed", "interval_count"), :<=, 12
    assert_equal ProofFixture.gems, PumaTuner::Document.parse(json, "verdict.json", [:verdict])
  end
end
