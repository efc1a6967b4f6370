# frozen_string_literal: true

require "test_helper"
require "json"
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

  CLOSED = Model::Arrivals.closed(20)
  OPEN = Model::Arrivals.open(100)

  # @return [Advise::Experience] of today's 1x5, under this load
  def experience(arrivals, *measured) = Advise::Experience.new(measured, today: topology("1x5"), arrivals:)

  # @return [Array] what stands beside the advice "gc" under this load, of alike loads and of others, and what is left out
  def told(arrivals, *measured)
    list = experience(arrivals, *measured).apply(Advise::AdviceList.new(advice: [advice("gc")]))
    [*list.advice.flat_map { |one| [one.measured, one.measured_elsewhere] }, list.withheld]
  end

  test "what was worse under another load is told, and the advice stays" do
    others = [Model::Arrivals.closed(41), Model::Arrivals.closed(9), Model::Arrivals.closed(20, think_ns: MS), OPEN]
    {CLOSED => others, OPEN => [CLOSED]}.each do |proven, all|
      known = measured("gc", :worse, arrivals: proven)
      all.each { |other| assert_equal [nil, known, []], told(other, known), "#{proven}; #{other}" }
    end
    larger = experience(OPEN, measured("topology", :worse, topology: topology("2x8"), arrivals: CLOSED))
    assert_equal [topology("2x8")], larger.topologies([topology("2x8")])
    assert_empty larger.apply(Advise::AdviceList.new(advice: [])).withheld
  end

  test "about as many connections are the same load, and so are all rates, of which an app meets many" do
    about = [CLOSED, Model::Arrivals.closed(40), Model::Arrivals.closed(10)]
    {CLOSED => about, OPEN => [OPEN, Model::Arrivals.open(7, connections_count: 50)]}.each do |proven, alike|
      known = measured("gc", :worse, arrivals: proven)
      alike.each { |one| assert_equal [[known]], told(one, known), "#{proven}; #{one}" }
    end
  end

  test "what failed counts under any load, and so does memory; a proof by an older version, and where nobody tells the load" do
    known = [measured("gc", :fails, arrivals: OPEN), measured("gc", :worse, arrivals: OPEN).with(metric: "pss"), measured("gc", :worse)]
    known.each { |one| assert_equal [[one]], told(CLOSED, one) }
    assert_equal [[measured("gc", :worse, arrivals: OPEN)]], told(nil, measured("gc", :worse, arrivals: OPEN))
  end

  test "under loads that are alike the last proof counts, whatever came out under others" do
    topologies = [CLOSED, Model::Arrivals.closed(21), OPEN].zip(%i[worse better worse]).map do |arrivals, outcome|
      measured("topology", outcome, topology: topology("2x8"), arrivals:)
    end
    assert_equal [[topology("2x8")], []], [CLOSED, OPEN].map { |load| experience(load, *topologies).topologies([topology("2x8")]) }
    first, last, other = topologies.map { |one| one.with(rule: "gc", topology: nil) }
    assert_equal [last, nil, []], told(CLOSED, first, last, other)
  end

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

  test "each load has a last proof; all are forgotten as one piece of advice, and a record of an older version is read" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "proofs.json")
      older = JSON.parse(JSON.generate(measured("gc", :worse).to_document)).except("arrivals")
      File.write(path, JSON.generate({schema_version: 1, apps: {shop: [older]}}))
      record = Advise::ProofRecord.new(path, say: ->(_) {})
      proofs = [CLOSED, OPEN, CLOSED].map.with_index(2) do |arrivals, month|
        measured("gc", :better, at: "2026-0#{month}-01T00:00:00Z", arrivals:)
      end
      record.add("shop", proofs)
      assert_equal [measured("gc", :worse), *proofs.drop(1)], record.of("shop")
      assert_equal 1, record.forget("shop")
    end
  end
end
