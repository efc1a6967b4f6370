# frozen_string_literal: true

require "test_helper"
require "support/builders"

class AdvisorTest < TunerTest
  include Builders

  # An app with something to say for every rule.
  def troubled
    endpoint_demand(demand([60, 20], [30], wait_kinds: ["lock"], gc_ms: 20), name: "GET /report")
  end

  test "the recommendation comes first, then the remarks in a fixed order" do
    list = Advise::Advisor.new.call(workload(endpoints: [troubled]), sweep(forecast("1x5", 10), forecast("2x2", 18)))
    assert_equal %w[topology lock_bound long_bursts gc], list.advice.map(&:rule)
    assert_equal [false, true, true, true], list.advice.map(&:remark?)
    assert_equal topology("2x2"), list.recommendation.topology
  end

  # @param query_ms [Numeric] of each of 20, beside 10 ms of CPU in nine of ten requests that ask nothing
  def asking(query_ms: 20)
    list = endpoint_demand(demand([0] * 21, [query_ms] * 20, wait_kinds: ["db"] * 20), name: "GET /list", weight_ratio: 0.1)
    workload(endpoints: [list, endpoint_demand(demand([10]), name: "GET /page", weight_ratio: 0.9)])
  end

  test "where the database takes over half of all time, fewer queries come before threads, which stay the recommendation" do
    first = Advise::Advisor.new.call(asking, sweep(forecast("1x5", 10), forecast("2x2", 18)))
    assert_equal %w[queries topology], first.advice.map(&:rule)
    assert_equal "GET /list asks the database 20 times: fewer queries before more threads", told(first.advice.first).title
    assert_equal [topology("2x2"), {"config/puma.rb" => "workers 2\nthreads 2, 2"}], [first.recommendation.topology, first.recommendation.lines]
    assert_equal %w[topology], CLI::Chosen.of(first, nil).map(&:rule), "--write has a topology to write"
    assert_equal "First fewer queries of GET /list, then tune again: this is advised for the app as it is.", told(first.recommendation).evidence.first
  end

  test "a rare endpoint's queries, with less than half of all time, come after threads" do
    list = Advise::Advisor.new.call(asking(query_ms: 4), sweep(forecast("1x5", 10), forecast("2x2", 18)))
    assert_equal %w[topology queries], list.advice.map(&:rule)
    assert_equal "GET /list asks the database 20 times", told(list.advice.last).title
    refute_match(/queries/, told(list.recommendation).evidence.join)
  end

  test "without anything to remark there is the recommendation alone" do
    list = Advise::Advisor.new.call(workload, sweep(forecast("1x5", 100)))
    assert_equal %w[topology], list.advice.map(&:rule)
  end

  test "every advice says what to change, what it costs, and how to undo it" do
    list = Advise::Advisor.new.call(workload(endpoints: [troubled]), sweep(forecast("1x5", 10), forecast("2x2", 18)))
    list.advice.map { |advice| told(advice) }.each do |advice|
      [advice.title, advice.change, advice.cost, advice.undo, *advice.evidence].each { |text| refute_empty text }
      refute_empty advice.evidence
    end
  end

  test "constraints reach the rules" do
    constraints = Advise::Constraints.new(goals: [Goal.read("99% < 50ms")])
    list = Advise::Advisor.new(constraints).call(workload, sweep(forecast("1x5", 10, p99_ms: 40), forecast("2x2", 18, p99_ms: 60)))
    assert_equal topology("1x5"), list.recommendation.topology
  end

  def situation = Advise::Situation.new(workload, sweep(forecast("1x5", 1)))

  test "every file of rules/ is asked" do
    files = Dir[File.expand_path("../../lib/puma_tuner/advise/rules/*.rb", __dir__)].map { |path| File.basename(path, ".rb") }
    assert_equal files.sort, Advise::Rules.all.map { |rule| rule.new(situation).send(:rule_name) }.sort
  end

  test "no two rules have the same priority" do
    assert_empty Advise::Rules.all.group_by { |rule| rule::PRIORITY }.reject { |_, rules| rules.one? }
  end

  test "a rule must say what it advises" do
    assert_raises(InvariantError) { Advise::Rule.new(situation).call }
  end

  test "advice outlives its file" do
    list = Advise::Advisor.new.call(workload(endpoints: [troubled]), sweep(forecast("1x5", 10), forecast("2x2", 18)))
    assert_equal list, Document.parse(Document.dump(list), "advice.json", [:advice_list])
  end
end
