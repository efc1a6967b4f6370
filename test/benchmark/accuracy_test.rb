# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/accuracy/suite"

class AccuracyTest < TunerTest
  include Accuracy

  NAMES = {tools: %w[ours gvltools], workloads: %w[sleep]}.freeze
  ALL_PARTS = Tools.entry("ours").covers
  # What a closed Stopwatch answers.
  Watch = Struct.new(:wall_ns, :cpu_clock_ns, :run_queue_ns, :gc_ns, :waits)

  # A second's sleep with a tenth of it computing.
  #
  # @param reported [Hash] part => ns
  def sample(reported = {}, doubts: {}, residual_ns: 0, covers: ALL_PARTS)
    truth = Truth::PARTS.to_h { |part| [part, 0] }.merge(cpu: 100_000_000, sleep: 900_000_000)
    reported = truth.merge(reported) if covers == ALL_PARTS
    Sample.new(wall_ns: 1_000_000_000, truth:, doubts:, reported:, covers:, version: "1.0",
      extras: (covers == ALL_PARTS) ? {wall_ns: 1_001_000_000, residual_ns:} : {})
  end

  def results(*answers, condition: "idle", tool: "ours", into: Results.new)
    into.tap { |results| answers.each { |answer| results.add(condition, "sleep", tool, answer) } }
  end

  def missed(results, conditions: %w[idle])
    Judge.verdicts(results, conditions:, workloads: %w[sleep]).select(&:missed?).map(&:what)
  end

  test "holds what a tool says against the truth, in per cent of the wall time" do
    assert_in_delta(-2.5, sample({sleep: 875_000_000}).error_percent(:sleep))
    assert_in_delta 0.1, sample.wall_error_percent
    assert_in_delta 0.4, sample({}, doubts: {sleep: 4_000_000}).doubt_percent(:sleep)
  end

  test "holds a word that covers two of our parts against their sum, and leaves out what a tool does not tell" do
    idle = sample({io: 1_000_000_000}, covers: {io: %i[io sleep], cpu: %i[cpu]})
    assert_in_delta 10.0, idle.error_percent(:io)
    assert_nil idle.error_percent(:cpu)
    assert_nil idle.residual_percent
  end

  test "takes a thread that is off its core for preempted, or for waiting for the GVL where others want it" do
    watch = Watch.new(1_000, 600, 30, 50, {sleep: 300})
    alone, beside = %i[preempted contended].map { |off_core| Truth.from(watch, off_core:, doubts: {}) }
    assert_equal({cpu: 550, preempted: 100, gvl_wait: 0, gc: 50, io: 0, lock: 0, sleep: 300}, alone.parts)
    assert_equal [30, 70], beside.parts.values_at(:preempted, :gvl_wait)
    assert_equal [1_000, 1_000], [alone, beside].map { |truth| truth.parts.values.sum }
  end

  test "takes CPU that a wait counted once more from the wait" do
    truth = Truth.from(Watch.new(1_000, 110, 0, 0, {lock: 700, sleep: 200}), off_core: :contended, doubts: {})
    assert_equal({cpu: 110, preempted: 0, gvl_wait: 0, gc: 0, io: 0, lock: 690, sleep: 200}, truth.parts)
  end

  test "reads what a child printed" do
    truth = Truth.from(Watch.new(1_000, 600, 0, 0, {lock: 400}), off_core: :contended, doubts: {lock: 10})
    text = JSON.generate({truth: truth.to_h, reported: {lock: 390}, extras: {residual_ns: 5}, version: "2.1"})
    found = Sample.parse(text, covers: ALL_PARTS)
    assert_equal [-1.0, 1.0, 0.5, "2.1"],
      [found.error_percent(:lock), found.doubt_percent(:lock), found.residual_percent, found.version]
  end

  test "misses a target only when the best round does, beyond the doubt about the truth" do
    off = {sleep: 915_000_000}
    assert_equal %w[sleep], missed(results(sample(off), sample(off)))
    assert_empty missed(results(sample(off), sample))
    assert_empty missed(results(sample(off, doubts: {sleep: 6_000_000})))
  end

  test "judges the residual everywhere, and parts on an idle machine only" do
    bad = sample({sleep: 800_000_000}, residual_ns: -6_000_000)
    both = results(bad, condition: "loaded", into: results(bad))
    assert_equal %w[sleep residual residual], missed(both, conditions: %w[idle loaded])
    assert_empty missed(results(sample({}, residual_ns: 5_000_000)))
  end

  test "misses when the probe crashed once or did not tell a part, and judges nobody else" do
    crash = Failure.new(kind: "crashed", reason: "killed by SIGSEGV")
    assert_equal ["every run"], missed(results(sample, crash))
    assert_equal ["io"], missed(results(sample.with(reported: sample.reported.merge(io: nil))))
    assert_empty missed(results(crash, tool: "gvltools"))
  end

  test "shows each tool's worst part by its median, with the range over the rounds" do
    found = results(sample({io: 30_000_000}), sample({io: 20_000_000, cpu: 160_000_000}), sample({io: 50_000_000}))
    table = Table.new(results(Failure.new(kind: "hung", reason: "not done within 60 s"), tool: "gvltools", into: found), **NAMES)
    assert_match(/^\| sleep +\| +\+3\.00 io \| +hung \|$/, table.overview("idle"))
    assert_match(/^\| sleep +\| ours +\| io +\| +\+3\.00 \| \+2\.00…\+5\.00 \| +3 \|$/, table.details("idle"))
    assert_match(/^\| sleep +\| gvltools \| - +\| +- \| +- \| 0, 1 hung \|$/, table.details("idle"))
    assert_equal ["gvltools hung 1x in sleep, idle: not done within 60 s."], table.failures
  end

  test "shows every part of ours with its truth and the residual" do
    found = results(sample({lock: 2_000_000}, doubts: {sleep: 3_000_000}, residual_ns: -2_000_000))
    line = Table.new(found, **NAMES).ours("idle").lines.last
    assert_match(/100\.0 \(\+0\.00\) .* 0\.0 \(\+0\.20\) .* 900\.0 \(\+0\.00\) .* 1000\.0 \(\+0\.10\) .* -0\.20 .* 0\.30/, line)
  end

  test "aligns its columns and never shows a negative zero" do
    lines = Markdown.table(%w[a bb], [%w[long 1], %w[x|y 22]]).lines.map(&:chomp)
    assert_equal ["| a    | bb |", "| ---- | -: |", "| long |  1 |", "| x\\|y | 22 |"], lines
    assert_equal ["+0.00", "-0.01", "+12", "-"], [-0.001, -0.006, 12.3, nil].map { |percent| Markdown.signed(percent) }
  end

  test "knows from a method what its caller waits for" do
    names = ["Kernel#sleep", "Thread::Mutex#synchronize", "Thread::Queue#pop", "Thread#join", "IO#read", "UNIXSocket#readpartial",
      "Object#spin"]
    assert_equal %i[sleep lock lock lock io io cpu], names.map { |name| Leaf.part(name, otherwise: :cpu) }
  end

  test "says how each tool is read, in parts of ours" do
    Tools::ALL.each do |tool|
      assert_empty tool.covers.values.flatten - Truth::PARTS, tool.name
      refute_empty tool.reading, tool.name
    end
    assert_equal %i[cpu gvl_wait io], Tools.entry("gvl_timing").covers.keys
  end

  test "takes its options, and refuses a page of half a run" do
    options = Options.parse(%w[--rounds 2 --tools gvltools,ours --workloads gc --conditions idle])
    assert_equal [2, false, %w[ours gvltools], %w[gc], %w[idle], false], options.deconstruct
    assert_equal [1, 0.25], Options.parse(%w[--quick]).then { |quick| [quick.rounds_count, quick.scale] }
    assert Options.parse(%w[--write]).write
    [%w[--write --quick], %w[--write --tools ours], %w[--workloads nosuch], %w[--rounds 0], %w[more]].each do |words|
      assert_raises(OptionParser::ParseError, words.join(" ")) { Options.parse(words) }
    end
  end

  test "writes a page that says what was measured, and names no folder of this machine" do
    machine = PumaTuner::Host::MachineFacts.new(cores_count: 2, cpu_model: "test", cpu_quota_cores: nil, memory_bytes: 1,
      kernel: "Linux", load_average: 0.5, cpu_pressure_ratio: nil)
    found = results(sample({sleep: 950_000_000}))
    verdicts = Judge.verdicts(found, conditions: %w[idle], workloads: %w[sleep])
    page = Page.new(machine:, options: Options.parse([]), results: found, verdicts:, at: Time.utc(2026, 1, 2)).to_s
    ["2026-01-02", "bin/exec rake accuracy", "puma_tuner 1.0", "(never answered)", "1 of 8 targets are **missed**",
      "With all cores loaded"].each { |text| assert_includes page, text }
    refute_includes page, File.expand_path("../..", __dir__)
  end
end
