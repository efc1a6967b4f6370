# frozen_string_literal: true

require "test_helper"
require "support/lane_fixture"
require "support/profiles"
require "support/top_builders"
require "support/tradeoffs"
require "support/tuning_fixture"
require_relative "compare_fixture"
require_relative "fleet_fixture"

class ReportTest < TunerTest
  include TopBuilders

  Report = PumaTuner::Report

  test "reports have four formats" do
    assert_equal %i[text html markdown json], Report.formats
  end

  test "an unknown format is answered with the known ones" do
    mistake = assert_raises(PumaTuner::UsageError) { Report.render(TuningFixture.tuning, format: :pdf) }
    assert_equal 'unknown report format "pdf"; choose one of text, html, markdown, json', mistake.message
  end

  test "a kind that a format cannot show is answered with the formats that can" do
    note = PumaTuner::Document.define(:text, kind: :note).new(text: "hello")
    mistake = assert_raises(PumaTuner::UsageError) { Report.render(note, format: :html) }
    assert_equal "a document of kind note cannot be shown as html; ask for json", mistake.message
  end

  test "something that is no document is a mistake of ours" do
    assert_raises(PumaTuner::InvariantError) { Report.render(TuningFixture.topology("1x5"), format: :text) }
  end

  test "a format may be given as a string" do
    assert_equal Report.render(TuningFixture.tuning, format: :json), Report.render(TuningFixture.tuning, format: "json")
  end

  # @return [PumaTuner::Load::Outcome]
  def outcome
    PumaTuner::Load::Outcome.new(generator: "wrk 4.2.0", connections_count: 20, duration_ns: 1, requests_count: 0, throughput_per_s: 0.0, mean_ns: nil,
      p50_ns: nil, p90_ns: nil, p99_ns: nil, statuses: {}, unexpected_count: 0, socket_errors_count: 0, unknown: [])
  end

  # @return [PumaTuner::Top::Status]
  def running
    status(entry("GET /a", [10] * 20, cpu: 100, gvl_wait: 50), entry("reindexer", [10], kind: :thread)).with(outlook: outlook(["1x5", 20, 11], ["1x4", nil, nil]))
  end

  test "a running server's status says what its screen says" do
    text = Report.render(running, format: :text)
    assert_includes text, "GVL-bound: requests wait 2.50 ms for the GVL, 25% of their time."
    %w[GET\ /a reindexer overload single].each { |word| assert_includes text, word }
    assert_includes Report.render(running.with(outlook: nil), format: :text), "There is none: it comes once 100 requests are recorded"
    [outlook(["1x5", 20, 11]), nil].each do |outlook|
      assert_includes Report.render(running.with(outlook:, recommendation:), format: :text), "Recommended: 2x5; p99 0.43x (0.39 to 0.47) of today's 1x5."
    end
  end

  # @return [PumaTuner::Trial::Outcome] of a trial that nobody sent a request to
  def trial
    plan = PumaTuner::Trial::Plan.of(threads_count: 5, configured: [3, 3], pids: [1, 2], duration_s: 60)
    PumaTuner::Trial::Outcome.of(plan, [], started_at: "2026-01-01T00:00:00Z", server_pid: 7)
  end

  test "every kind of document that has blocks is shown in every format" do
    values = {observation: TuningFixture.observation, workload: TuningFixture.workload, machine: TuningFixture.machine, sweep: TuningFixture.sweep,
              advice_list: TuningFixture.advice_list, verdict: TuningFixture.verdict, tuning: TuningFixture.tuning, load_outcome: outcome,
              load_self_test: PumaTuner::Load::SelfTest::Result.new(lines: [], intended_count: 0, answered_count: 0, lag_p99_ns: nil, server_late_ns: nil),
              profile: Profiles.costs(Profiles.samples({"App#call" => 5_000_000})), profile_diff: Profiles.two_profiles,
              tradeoff: Tradeoffs.study({"off" => [1_000, 100], "on" => [600, 130]}),
              fleet: FleetFixture.comparison, lanes: Object.new.extend(LaneFixture).lane_comparison, status: running, trial: trial, log_comparison: CompareFixture.outcome}
    Report::PAGES.each_key do |kind|
      Report.formats.each { |format| refute_empty Report.render(values.fetch(kind), format:), "#{kind} as #{format}" }
    end
    assert_equal PumaTuner::Document::KINDS.keys.map(&:to_sym).sort, Report::PAGES.keys.sort
  end

  test "JSON is the document itself" do
    json = Report.render(TuningFixture.tuning, format: :json)
    assert_equal TuningFixture.tuning, PumaTuner::Document.parse(json, "report", [:tuning])
  end

  test "a kind from elsewhere brings what makes its blocks, and is shown in every format" do
    note = PumaTuner::Document.define(:text, kind: :note)
    sections = Class.new(Report::Sections::Base) do
      def initialize(note) = @note = note

      def page = Report::Blocks::Page.new(title: @note.text.upcase, parts: [])
    end
    Report.add(:note, sections)
    assert_equal "FIRE\n", Report.render(note.new("fire"), format: :text)
    assert_equal "### PumaTuner: FIRE\n", Report.render(note.new("fire"), format: :markdown)
    assert_includes Report.render(note.new("fire"), format: :html), "<h1>FIRE</h1>"
  ensure
    Report.instance_variable_get(:@others).delete(:note)
  end
end
