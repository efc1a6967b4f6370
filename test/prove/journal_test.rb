# frozen_string_literal: true

require "test_helper"
require "support/encodings"
require "tmpdir"

class JournalTest < TunerTest
  include Encodings

  Journal = PumaTuner::Prove::Journal

  def setup
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "verdict.json.rounds")
  end

  def teardown = FileUtils.rm_rf(@folder)

  def attempt(round, void_reason: nil)
    %w[a b].map { |name| PumaTuner::Prove::Trial.new(variant: name, round:, position: 0, requests_count: 3, values: {"throughput" => 1.5}, void: void_reason && PumaTuner::Prove::Void.failed(void_reason)) }
  end

  def verdict(trials) = Journal::Ended.new(trials:, remarks: [PumaTuner::Statement.of(:noise_left_out)], stopped_because: PumaTuner::Statement.of(:time_used_up))

  def journal(plan: {"seed" => 1}, resume: false) = Journal.new(@path, plan:, resume:)

  test "kept rounds come back as they were" do
    first = journal
    first.keep(attempt(0, void_reason: "no"))
    first.keep(attempt(0))
    assert_equal attempt(0, void_reason: "no") + attempt(0), journal(resume: true).trials
  end

  test "a run that goes on adds to what there is" do
    journal.keep(attempt(0))
    journal(resume: true).keep(attempt(1))
    assert_equal [0, 0, 1, 1], journal(resume: true).trials.map(&:round)
  end

  test "rounds of an interrupted run are not written over; those of one that came to its end are, and so are void ones" do
    journal.keep(attempt(0, void_reason: "no"))
    first = journal
    first.keep(attempt(0))
    assert_match(/verdict\.json\.rounds holds 1 round of an interrupted run: continue it with --resume/, assert_raises(PumaTuner::UsageError) { journal }.message)
    assert_equal [[0, 0], nil], journal(resume: true).then { |one| [one.trials.map(&:round), one.ended] }
    first.finish(verdict(attempt(0)))
    assert_equal [0, 0], journal(resume: true).trials.map(&:round)
    assert_empty journal.trials
  end

  test "what is written in any letters is read and added to, whatever encoding files have for the process" do
    journal(plan: {"name" => NAME})
    script = <<~RUBY
      require "puma_tuner"
      journal = PumaTuner::Prove::Journal.new(ARGV[0], plan: {"name" => NAME}, resume: true)
      journal.keep_times(PumaTuner::Prove::TrialRunner::Times.new(*[1] * 6))
      p PumaTuner::Prove::Journal.values(ARGV[0]).first["name"] == NAME
    RUBY
    assert_equal ["true"], in_each_encoding(script, @path).uniq
  end

  test "a run that came to its end goes on with what it ended with" do
    first = journal
    first.keep(attempt(0))
    first.finish(verdict(attempt(0, void_reason: "disturbed later")))
    again = journal(resume: true)
    again.finish(verdict([]))
    assert_equal [attempt(0, void_reason: "disturbed later")] * 2, [again, journal(resume: true)].map(&:trials)
    assert_equal verdict(again.trials), again.ended
  end

  test "how long shorter trials were is kept with them" do
    times = PumaTuner::Prove::TrialRunner::Times.new(warmup_window_s: 0.25, warmup_limit_s: 2.0, duration_s: 1.5, turns_count: 8, probe_s: 0, boot_limit_s: 60)
    first = journal
    first.keep_times(times)
    first.keep(attempt(0))
    assert_equal [times, attempt(0)], journal(resume: true).then { |one| [one.times, one.trials] }
    assert_nil first.times
  end

  test "times that are none, or beyond all patience, are refused with the field, and so is an end without a reason" do
    times = {"warmup_window_s" => 0.25, "warmup_limit_s" => 2.0, "duration_s" => 1.5, "turns_count" => 8, "probe_s" => 0, "boot_limit_s" => 60}
    ended = JSON.parse(JSON.generate(verdict(attempt(0)).to_document))
    refusal = lambda do |line|
      File.write(@path, "{\"seed\":1}\n#{JSON.generate(line)}\n")
      assert_raises(PumaTuner::UsageError) { journal(resume: true) }.message
    end
    {"warmup_window_s" => "x", "duration_s" => -5, "turns_count" => "many", "probe_s" => nil, "boot_limit_s" => 10**9}.each do |field, value|
      assert_match(/not written by this version \(#{field} of Prove::TrialRunner::Times is .*Start again without --resume/, refusal.call({"times" => {**times, field => value}}))
    end
    assert_match(/Prove::TrialRunner::Times has no probe_s/, refusal.call({"times" => times.except("probe_s")}))
    assert_match(/Prove::TrialRunner::Times is 7, where an object is needed/, refusal.call({"times" => 7}))
    assert_match(/Prove::Journal::Ended has no stopped_because/, refusal.call({"ended" => {**ended, "stopped_because" => nil}}))
    assert_match(/x…/, refusal.call({"times" => {**times, "duration_s" => "x" * 100_000}}))
  end

  test "a line cut short is left out" do
    journal.keep(attempt(0))
    File.write(@path, File.read(@path) + '[{"variant":"a","rou')
    again = journal(resume: true)
    assert_equal attempt(0), again.trials
    again.keep(attempt(1))
    assert_equal attempt(0) + attempt(1), journal(resume: true).trials
  end

  test "another plan can't go on, and is told what differs" do
    journal.keep(attempt(0))
    error = assert_raises(PumaTuner::UsageError) { journal(plan: {"seed" => 2}, resume: true) }
    assert_match(/started with another plan \(seed: 1, now 2\)/, error.message)
  end

  test "an app that has changed meanwhile can't go on" do
    first = journal
    first.keep(attempt(0).map { |trial| trial.with(fingerprint: {[:gem, "json"] => "2.7.2", [:gem, "late"] => "1"}) })
    again = journal(resume: true)
    again.ensure_same("a" => {[:gem, "json"] => "2.7.2"}, "b" => {[:gem, "json"] => "2.7.2", [:gem, "other"] => "3"})
    error = assert_raises(PumaTuner::UsageError) { again.ensure_same("a" => {[:gem, "json"] => "2.7.2"}, "b" => {[:gem, "json"] => "2.8.1"}) }
    assert_match(/b has changed since the saved rounds: gem json was 2\.7\.2, and is now 2\.8\.1/, error.message)
  end

  test "resuming without a journal is a usage error" do
    assert_match(/nothing to resume/, assert_raises(PumaTuner::UsageError) { journal(resume: true) }.message)
    File.write(@path, "{}\n[{\"variant\": 1}]\n")
    assert_raises(PumaTuner::UsageError) { journal(plan: {}, resume: true) }
  end
end
