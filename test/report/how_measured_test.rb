# frozen_string_literal: true

require "test_helper"
require_relative "proof_fixture"

class ReportHowMeasuredTest < TunerTest
  def how(verdict = ProofFixture.gems) = PumaTuner::Report::Sections::Methodology.new(PumaTuner::Report::Contents.of(verdict))

  test "order and seed are told, and how often each came first" do
    assert_equal "12 rounds of 2 variants, each in a fresh process, in shuffled order (seed 7); first in a round: json 2.7.2 6 and json 2.8.1 6.", how.table["rounds"]
  end

  test "void rounds are listed with who and why, and do not count for the rest" do
    assert_equal ["round 5, json 2.7.2: other processes took 21.3% more of the machine than during the other variant's turns"], how.voids
    assert_equal "2 trials void; their rounds were run again.", how.table["void"]
    assert_empty how(ProofFixture.blocks).voids
    assert_match(/of 24 not steady/, how.table["warm-up"])
  end

  test "trials that were not warm are listed, and remarks are told once with all their variants" do
    assert_equal ["round 3, json 2.8.1: CPU per request had not settled after 6 windows"], how.unsteady
    cells = ProofFixture.gems.cells.map { |cell| cell.with(remarks: [PumaTuner::Statement.of(:coarse_p99, requests_count: 1_000)]) }
    assert_equal ["json 2.7.2 and json 2.8.1: p99 comes from fewer than 1000 requests per trial: use longer trials"], how(ProofFixture.gems(cells:)).remarks
  end

  test "the methodology tells when the proof could be decided, by what, and why it stopped" do
    assert_equal "By requests/s after 6, 9 and 12 rounds with an interval of 98.2% each time, declared beforehand; equivalent: inside 1 ± 2.0%.",
      how.table["decided"]
    assert_equal "all 12 planned rounds were run", how.table["stopped"]
  end

  test "a single look has no times" do
    assert_equal "By iterations/s after 12 rounds with an interval of 95.0%, declared beforehand; equivalent: inside 1 ± 2.0%.",
      how(ProofFixture.blocks).table["decided"]
  end

  test "the load is told, and of a block only how long" do
    assert_equal "closed loop, 10 connections, by puma_tuner load; 5.00 s in each trial.", how.table["load"]
    assert_equal "2.00 s in each trial.", how(ProofFixture.blocks).table["load"]
  end

  test "conditions have the middle and range of all trials, by the unit in their names" do
    assert_equal "waiting for a core 4.1% (3.7%–4.5%); used by others 1.2%; throttled 0; the generator's lag (p99) 60.1 µs (52.9–70.0).", how.table["meanwhile"]
    verdict = ProofFixture.gems.then { |found| found.with(trials: found.trials.map { |trial| trial.with(conditions: {"free_bytes" => 2**30, "odd" => 1.5}) }) }
    assert_equal "free 1024 MiB; odd 1.50.", how(verdict).table["meanwhile"]
  end

  test "the noise of equal variants is told in each metric that was looked at" do
    table = how.section.blocks.grep(PumaTuner::Report::Blocks::Table).first
    told = table.rows.first.cells.zip(table.columns).map { |cell, column| PumaTuner::Report::Words.cell(cell, column, narrow: true) }
    assert_equal ["requests/s", "1.003x (0.997–1.009)", "0.6%", "0.9%"], told
    assert_empty how(ProofFixture.blocks).section.blocks.grep(PumaTuner::Report::Blocks::Table)
  end

  test "unknown facts are left out" do
    bare = ProofFixture.gems(load: nil, machine: nil, looks: [], level_ratio: nil, trials: [], noise: [], stopped_because: nil, started_at: nil)
    assert_equal %w[rounds void], how(bare).table.keys
    assert_empty how(bare).unsteady
  end
end
