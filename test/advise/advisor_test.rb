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
