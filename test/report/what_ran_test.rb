# frozen_string_literal: true

require "test_helper"
require_relative "proof_fixture"

class ReportWhatRanTest < TunerTest
  Report = PumaTuner::Report

  # @param fingerprints [Array<Hash>] of baseline and variant
  def ran(*fingerprints)
    verdict = ProofFixture.gems
    cells = verdict.cells.zip(fingerprints).map { |cell, fingerprint| fingerprint ? cell.with(fingerprint:) : cell }
    Report::Sections::Ran.new(Report::Contents.of(verdict.with(cells:)))
  end

  def table(rows) = rows.map { |row| [row.key, *row.values] }

  test "facts that differ are told of each variant, and the others once" do
    assert_equal [%w[gem.json 2.7.2 2.8.1]], table(ran.factors)
    assert_equal ["extension json/ext/generator", "extension json/ext/parser", "gem json"], ran.differing.map(&:key)
    assert_equal "on", ran.same["yjit"]
    assert_equal ProofFixture::FINGERPRINT.size, ran.differing.size + ran.same.size
  end

  test "a fact that only one variant has differs" do
    assert_equal [["gem bootsnap", nil, "1.18.0"]], table(ran({[:ruby, nil] => "3.4"}, {[:ruby, nil] => "3.4", [:gem, "bootsnap"] => "1.18.0"}).differing)
  end

  test "a program that is no Ruby is silent in what only Ruby can tell" do
    assert_equal [%w[program ruby nginx]], table(ran({[:ruby, nil] => "3.4", [:program, nil] => "ruby", [:yjit, nil] => "on"}, {[:program, nil] => "nginx"}).differing)
  end

  test "a variant without a fingerprint is listed, and differs in nothing" do
    found = ran({[:ruby, nil] => "3.4"}, {})
    assert_equal ["json 2.8.1"], found.silent
    assert_empty found.differing
    assert_empty ran({}, {}).silent
  end

  test "variants whose names would look the same above their columns are named beside what they have" do
    names = %w[1 2].map { |count| "the app's own settings, taken #{count} times a day on each host" }
    verdict = ProofFixture.gems
    cells = verdict.cells.zip(names).map { |cell, variant| cell.with(variant:) }
    section = Report::Sections::Ran.new(Report::Contents.of(verdict.with(cells:, baseline: names.first))).section
    assert_equal "2.7.2 (#{names.first}); 2.8.1 (#{names.last})", section.blocks.grep(Report::Blocks::Labelled).first&.rows&.fetch("gem.json")
  end

  test "nothing is shown without factors and fingerprints" do
    cells = ProofFixture.gems.cells.map { |cell| cell.with(factors: {}, fingerprint: {}) }
    refute_predicate Report::Sections::Ran.new(Report::Contents.of(ProofFixture.gems(cells:))), :any?
  end
end
