# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "tmpdir"
require_relative "../../benchmark/validate/suite"

# What can be said of the validation without measuring.
class ValidateTest < TunerTest
  include Builders
  include Validation

  FACTS = {"machine" => {"cores_count" => 2, "cpu_model" => "A | B", "kernel" => "Linux 6", "load_average" => 0.5}, "ruby" => "ruby 3.4.5",
           "at" => "2026-11-21 10:00 UTC", "turns_per_ms" => 40_000}.freeze
  KEY = "a/3.4/8.0/100/1x3/closed-1"

  # @param spread [Float] by which the second repeat is off
  # @param factor [Float] of the builders' forecast, whose throughput is 100/s and p50 50 ms, p99 100 ms, GVL wait 0
  def fields(key = KEY, factor: 1.0, spread: 0.0, p99_ms: 100, gvl_wait_ms: 0.1, disturbed: nil, rate_per_s: nil, requests_count: 2_000)
    latency = Stats::Histogram.of([50 * MS] * (requests_count * 98 / 100) + [p99_ms * MS] * (requests_count * 2 / 100)).to_document.transform_keys(&:to_s)
    repeats = [1 - spread, 1 + spread].map do |off|
      {"requests_count" => requests_count, "intended_count" => (requests_count if rate_per_s), "duration_ns" => 1_000_000_000, "throughput_per_s" => 100 * factor * off,
       "mean_ns" => 50 * MS, "cpu_ns" => requests_count * 8 * MS, "p50_ns" => 50 * MS, "p99_ns" => p99_ms * MS, "disturbed" => disturbed, "latency" => latency}
    end
    # So that the pooled throughput is 100 x factor, too.
    repeats.each { |repeat| repeat["duration_ns"] = (requests_count / (100 * factor) * 1e9).round }
    {"kind" => "cell", "key" => key, "connections_count" => 3, "rate_per_s" => rate_per_s, "load_s" => 20.0, "repeats" => repeats,
     "gvl_wait" => {"requests_count" => 500, "mean_ns" => gvl_wait_ms * MS, "deviation_ns" => 0.05 * MS}, "failure" => nil}
  end

  def comparison(key = KEY, forecast: forecast("1x3", 100.0, p99_ms: 100), failure: nil, **measured)
    Comparison.new(cell: Cell.parse(key), measured: Measured.new(fields(key, **measured)), forecast:, failure:)
  end

  def verdict(claim, comparisons) = Judge.verdicts(comparisons).find { |verdict| verdict.claim.start_with?(claim) }

  test "a cell's name holds all of it" do
    (Grid.quick + Grid.full).each { |cell| assert_equal cell, Cell.parse(cell.key) }
    assert_equal 3, Cell.parse(KEY).level.connections_count(topology("1x3"))
  end

  test "the grids name each cell once, and what the issue asks for" do
    [Grid.quick, Grid.full, Grid.full(everything: true)].each { |cells| assert_equal cells.size, cells.uniq.size }
    full = Grid.full
    assert_equal %w[3.3 3.4], full.map { |cell| cell.subject.ruby }.uniq.sort
    assert_equal %w[6.6 7.2 8.0 own], full.map { |cell| cell.subject.puma }.uniq.sort
    assert_equal [10, 100], full.map { |cell| cell.subject.timeslice_ms }.uniq.sort
    assert_empty full.select { |cell| cell.subject.ruby == "3.3" && cell.subject.timeslice_ms == 10 }
    assert_equal Workloads::NAMES, full.map { |cell| cell.subject.workload_name }.uniq.sort_by { |name| Workloads::NAMES.index(name) }
    Grid.full(everything: true).then { |all| assert_empty Grid.full - all }
  end

  test "the quick grid takes ten minutes" do
    schedule = Schedule.new(cells: Grid.quick, recorded_at: [topology("1x1")], journal: empty_journal)
    assert_operator schedule.expected_s(Times.quick), :<, 570
  end

  def empty_journal = Struct.new(:nothing) { %i[cell absence document].each { |name| define_method(name) { |*| nil } } }.new

  test "an error is beyond the noise by what lies outside of the repeats" do
    error = comparison(factor: 0.9, spread: 0.02).errors.fetch(:throughput)
    assert_in_delta 100 / 90.0 - 1, error.ratio
    assert_in_delta (100 - 90 * 1.02) / 90, error.beyond_ratio
    refute_predicate error, :covered?
    assert_predicate comparison.errors.fetch(:throughput), :covered?
  end

  test "targets are met, missed beyond the noise, or not shown" do
    assert_equal :met, verdict("throughput, worst", [comparison]).outcome
    assert_equal :missed, verdict("throughput, worst", [comparison, comparison(factor: 0.9)]).outcome
    assert_equal :not_shown, verdict("throughput, worst", [comparison(factor: 0.945, spread: 0.02)]).outcome
    assert_equal :not_shown, verdict("throughput, worst", []).outcome
    assert_equal [KEY], verdict("throughput, worst", [comparison, comparison(factor: 0.9)]).missing.map(&:first)
    assert_equal :met, verdict("throughput, median", [comparison, comparison, comparison(factor: 0.9)]).outcome
    assert_equal :missed, verdict("p99, median", [comparison(p99_ms: 150)]).outcome
  end

  test "a wait for the GVL is forgiven a fifth of a millisecond" do
    assert_equal :met, verdict("GVL wait", [comparison(gvl_wait_ms: 0.15)]).outcome
    assert_equal :missed, verdict("GVL wait", [comparison(gvl_wait_ms: 0.5)]).outcome
  end

  test "cells that were disturbed or spread too widely do not count, and are listed with the reason" do
    bad = [comparison(factor: 0.5, spread: 0.05), comparison(factor: 0.5, disturbed: "others used 40% of the machine")]
    assert_equal :met, verdict("throughput, worst", [comparison, *bad]).outcome
    listed = Table.new(bad).invalid
    assert_match(/varies by 7\.1%/, listed)
    assert_match(/others used 40%/, listed)
  end

  test "an open loop's throughput is what was sent, so it is not judged; its rate is the one that arrived" do
    measured = Measured.new(fields(rate_per_s: 95.0, spread: 0.2))
    assert_nil measured.throughput
    assert_nil measured.invalid
    assert_in_delta 100, measured.offered_per_s
  end

  test "percentiles know how few requests they rest on" do
    assert_nil Measured.new(fields(requests_count: 50)).p99
    few, many = [100, 20_000].map { |requests_count| Measured.new(fields(requests_count:)).p99 }
    assert_operator few.low, :<, 60 * MS
    assert_operator many.low, :>, 95 * MS
  end

  test "the server's CPU for a request stands beside, so that one sees which part is wrong" do
    assert_in_delta 10.0 / 8 - 1, comparison.errors.fetch(:cpu).ratio # one core at 100 requests/s
  end

  test "a disturbed recording voids its cells" do
    voided = Comparison.new(cell: Cell.parse(KEY), measured: Measured.new(fields(factor: 0.5)), forecast: forecast("1x3", 100.0), void: "others used the machine")
    assert_equal :met, verdict("throughput, worst", [comparison, voided]).outcome
    assert_match(/others used the machine/, Table.new([voided]).invalid)
    disturbed = [[0.1, 99.0], [0.3, 99.0], [0.1, 60.0]].map do |foreign_cpu_ratio, turns_per_ms|
      Recorder::Recording.new(observation: nil, foreign_cpu_ratio:, turns_per_ms:, fastest: 100.0).disturbed
    end
    assert_nil disturbed.first
    assert_match(/others used 30\.0%/, disturbed[1])
    assert_match(/40\.0% slower/, disturbed.last)
  end

  test "a disturbed repeat is left out where enough others are there" do
    measured = fields
    measured["repeats"] << measured["repeats"].first.merge("disturbed" => "the machine was slower", "duration_ns" => 100 * 1_000_000_000)
    assert_nil Measured.new(measured).invalid
    assert_in_delta 100, Measured.new(measured).throughput.value
    measured["repeats"].first["disturbed"] = "others used it"
    assert_equal "others used it", Measured.new(measured).invalid
  end

  test "the speed is that of the loop" do
    result, turns_per_ms = Speed.during { sleep 0.15 and :done }
    assert_equal :done, result
    assert_operator turns_per_ms, :>, 0
    assert_nil Speed.difference(98.0, 100.0, "then")
  end

  test "a load that was served and not predicted is a miss, with its reason" do
    failed = verdict("cells that were served", [comparison, comparison(forecast: nil, failure: "too few")])
    assert_equal :missed, failed.outcome
    assert_equal ["#{KEY}: too few"], failed.missing.map(&:first)
    assert_equal :met, verdict("cells that were served", [comparison]).outcome
  end

  test "a wrong pick costs what its measurement lacks, and only beyond the noise" do
    cells = ->(measured) { [["1x3", 100.0, 1.0], ["2x3", 110.0, measured]].map { |name, predicted, factor| comparison("a/3.4/8.0/100/#{name}/closed-1", forecast: forecast(name, predicted), factor:) } }
    pick = Picks.of(cells.call(0.9)).first
    assert_equal %w[2x3 1x3], [pick.predicted, pick.best].map(&:to_s)
    assert_in_delta 0.1, pick.regret_ratio
    assert_equal :missed, verdict("throughput lost", cells.call(0.9)).outcome
    assert_equal :met, verdict("throughput lost", cells.call(1.1)).outcome
  end

  def page(comparisons, other: {}, absences: {})
    options = Options.parse(%w[--quick])
    Page.new(facts: FACTS, options:, by_topology: {topology("1x1") => comparisons, **other}, verdicts: Judge.verdicts(comparisons), absences:,
      calibrated: false, at: Time.utc(2026, 11, 21)).to_s
  end

  test "the page holds its tables, aligned, what misses, and what is left out" do
    text = page([comparison(factor: 0.9), comparison("a/3.4/8.0/100/1x3/open-0.7", rate_per_s: 100.0)], absences: {"gollum/3.4/own/100" => "it is not installed"},
      other: {topology("1x5") => [comparison(forecast: forecast("1x3", 105.0))]})
    assert_match(/^\| throughput, worst error +\| +5\.0 \| +11\.1 \| +11\.1 \| +1 \| \*\*missed\*\* \|$/, text)
    assert_match(/^  - #{KEY} \(\+11 %\)$/o, text)
    assert_match(/\| 90\.0 \(90\.0 to 90\.0\) -> 100 \(99\.0 to 101\), \+11 % \|/, text)
    assert_match(/Left out: gollum.*it is not installed\./, text)
    assert_match(/not calibrated/, text)
    assert_match(/^\| 1x5 +\| 1x1 +\| throughput \| +5\.0 \|/, text)
    text.split("\n\n").select { |part| part.start_with?("|") }.each { |table| assert_equal 1, table.lines(chomp: true).map(&:length).uniq.size, table }
  end

  test "what was measured is found again, and a line that was cut short is not" do
    Dir.mktmpdir do |folder|
      cell = Cell.parse(KEY)
      Journal.new(folder).add(fields)
      File.write(File.join(folder, "journal.jsonl"), '{"kind":"cell","key":"cut', mode: "a")
      journal = Journal.new(folder)
      assert_in_delta 100, Measured.new(journal.cell(cell)).throughput.value
      assert_empty Schedule.new(cells: [cell], recorded_at: [], journal:).servers(cell.subject)
      journal.keep(Schedule.recording_name(cell.subject, topology("1x1")), observation)
      assert_equal observation, Journal.new(folder).document(Schedule.recording_name(cell.subject, topology("1x1")))
      assert_nil Journal.new(folder, fresh: true).cell(cell)
    end
  end

  test "a cell that says nothing is measured again when that is asked for" do
    Dir.mktmpdir do |folder|
      cell = Cell.parse(KEY)
      journal = Journal.new(folder)
      journal.add(fields(spread: 0.1))
      assert_equal [0, 1], [false, true].map { |again| Schedule.new(cells: [cell], recorded_at: [], journal:, again:).servers(cell.subject).size }
    end
  end

  test "a reason is a line without folders" do
    assert_equal "ruby -S bundle exec puma ended", Reason.of(PumaTuner::UserMistake.new("/opt/some/where/ruby -S bundle exec puma ended.\nmore"))
  end

  test "steps are understood" do
    assert_equal [[:burn, 20], [:wait, 0.005], [:litter, 2_500]], ValidationSteps.parse("c0.5 i5 g2.5", turns_per_ms: 40)
    assert_equal [200, {"content-type" => "text/plain"}, ["done"]], ValidationSteps.app("/=c1;/other=", turns_per_ms: 10).call("PATH_INFO" => "/")
    assert_raises(ArgumentError) { ValidationSteps.parse("x1", turns_per_ms: 1) }
  end

  test "a page is written whole or not at all" do
    ["--write --only a", "--write --cells a*", "--fresh --recompute", "--only nothing", "more"].each do |words|
      assert_raises(OptionParser::ParseError) { Options.parse(words.split) }
    end
    assert Options.parse(%w[--write --quick]).write
    assert_equal %w[1x1 1x16], Options.parse(%w[--recorded-at 1x1,1x16]).recorded_at.map(&:to_s)
    assert_equal 2, Options.parse(%w[--quick --cells a/3.4/8.0/100/1x3/*]).cells.size
  end
end
