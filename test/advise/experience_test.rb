# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "tmpdir"

class AdviceExperienceTest < TunerTest
  include Builders

  LINES = {"config/puma.rb" => "workers 2"}.freeze

  def advice(rule, lines: LINES, topology: nil)
    text = Statement.of(:told, text: rule)
    Advise::Advice.new(rule:, title: text, evidence: [], topology:, throughput_ratio: estimate(1.2), p50_ratio: nil, p99_ratio: nil,
      change: text, cost: text, undo: text, lines:)
  end

  def interval(low, high) = Stats::Estimate.new(value: (low + high) / 2.0, low:, high:, level_ratio: 0.95, samples_count: 12)

  def measured(rule, outcome, ratio: interval(0.9, 1.1), today: "1x5", at: "2026-01-02T03:04:05Z", lines: LINES, **)
    Advise::Measured.new(rule:, lines:, topology: nil, today: topology(today), metric: "throughput", ratio:, predicted: interval(1.1, 1.3), outcome:,
      measured_at: at, **)
  end

  def applied(measured, *advice) = Advise::Experience.new(measured, today: topology("1x5")).apply(Advise::AdviceList.new(advice:))

  test "an advice that made things worse is left out, with what was measured" do
    list = applied([measured("gc", :worse), measured("malloc", :fails)], advice("gc"), advice("malloc"), advice("affinity"))
    assert_equal ["affinity"], list.advice.map(&:rule)
    assert_equal %w[gc malloc], list.withheld.map(&:rule)
  end

  test "one that brought nothing, or less than it promised, comes last; one that was better keeps its place" do
    less = measured("gc", :not_shown, ratio: interval(0.99, 1.05))
    list = applied([less, measured("malloc", :equivalent), measured("preload", :better, ratio: interval(1.02, 1.05))],
      advice("gc"), advice("malloc"), advice("preload"), advice("affinity"))
    assert_equal %w[preload affinity gc malloc], list.advice.map(&:rule)
    assert_equal [:better, nil, :not_shown, :equivalent], list.advice.map { |advice| advice.measured&.outcome }
  end

  test "what was measured of another setting, or of other lines, says nothing" do
    others = [measured("gc", :worse, today: "2x3"), measured("gc", :worse, lines: {"config/puma.rb" => "workers 3"})]
    list = applied(others, advice("gc"))
    assert_equal [["gc"], [], nil], [list.advice.map(&:rule), list.withheld, list.advice.first.measured]
  end

  test "a topology that was worse than today's is not forecast again" do
    experience = Advise::Experience.new([measured("topology", :worse, topology: topology("2x8"))], today: topology("1x5"))
    assert_equal %w[1x5 2x5], experience.topologies(%w[1x5 2x5 2x8].map { |text| topology(text) }).map(&:to_s)
    assert_equal ["2x8"], experience.apply(Advise::AdviceList.new(advice: [])).withheld.map { |one| one.topology.to_s }
  end

  test "it came out otherwise where it was worse, or the two intervals do not meet" do
    assert_predicate measured("gc", :worse, ratio: interval(0.8, 0.9)), :otherwise?
    assert_predicate measured("gc", :better, ratio: interval(1.31, 1.4)), :otherwise?
    refute_predicate measured("gc", :better, ratio: interval(1.2, 1.4)), :otherwise?
    refute_predicate measured("gc", :not_shown, ratio: estimate(0.5)), :otherwise?, "so few rounds have no interval"
    assert_nil measured("gc", :better).with(predicted: nil).as_predicted?
  end

  test "what was measured last is kept for each app, until it is forgotten, which is said" do
    said = []
    Dir.mktmpdir do |folder|
      record = Advise::ProofRecord.new(File.join(folder, "proofs.json"), say: ->(text) { said << text })
      first, last = measured("gc", :worse), measured("gc", :better, at: "2026-02-02T03:04:05Z")
      record.add("shop", [first, measured("malloc", :equivalent)])
      record.add("shop", [last])
      record.add("shop", [measured("preload", :not_shown, ratio: estimate(1.1))]) # of too few rounds
      record.add("blog", [first])
      assert_equal [measured("malloc", :equivalent), last], record.of("shop")
      assert_equal [[], 2], [said.dup, record.forget("shop")]
      assert_equal [[], [first], 0], [record.of("shop"), record.of("blog"), record.forget("shop")]
      assert_equal ["2 pieces", "0 pieces"].map { |count| "forgotten what proofs showed of #{count} of advice for this app" }, said
    end
  end
end
