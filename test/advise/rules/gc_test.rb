# frozen_string_literal: true

require "test_helper"
require "support/advising"

class GcRuleTest < TunerTest
  include Advising

  def remarks(*endpoints)
    list = Advise::Advisor.new.call(workload(endpoints:), sweep(forecast("1x5", 100)))
    list.advice.select { |advice| advice.rule == "gc" }.map { |advice| told(advice) }
  end

  test "a tenth of the CPU time is worth a remark that names the endpoint" do
    remark = remarks(endpoint_demand(demand([10], gc_ms: 0), name: "GET /a", weight_ratio: 0.5),
      endpoint_demand(demand([10], gc_ms: 2), name: "GET /b", weight_ratio: 0.5)).first
    assert_equal "GC takes 10.0% of the CPU time", remark.title
    assert_equal "Most of it in GET /b: 2.00 ms of 10.0 ms of CPU time (mean of 1 recorded requests).", remark.evidence.last
  end

  test "less than a tenth is not" do
    assert_empty remarks(endpoint_demand(demand([10], gc_ms: 0.9)))
  end

  test "GC that was not timed gives no remark, and does not dilute the rest" do
    assert_empty remarks(endpoint_demand(demand([10], gc_ms: nil)))
    remark = remarks(endpoint_demand(demand([10], gc_ms: nil), weight_ratio: 0.9), endpoint_demand(demand([10], gc_ms: 2), weight_ratio: 0.1)).first
    assert_equal "GC takes 20.0% of the CPU time", remark.title
  end

  test "requests without CPU time have no GC to speak of" do
    assert_empty remarks(endpoint_demand(demand([0, 0], [5])))
  end

  # @param workers_count [Integer, nil] of the server
  def asked(workers_count: 2, gain: 130, p99_ms: 80)
    ask(Advise::Rules::Gc, of: workload(endpoints: [endpoint_demand(demand([10], gc_ms: 2))]), observation: workers_count ? cluster(workers_count) : observation,
      today: "#{workers_count || 1}x3") { |what_if, _| (what_if == "gc=0") ? forecast("1x3", gain, p99_ms:) : flunk("asked for #{what_if}") }.first
  end

  test "what there would be to gain without any collection is evidence, and no prediction of the lines" do
    advice = asked
    assert_predicate advice, :remark?
    assert_equal "Without any garbage collection, which is the most that could be gained: 1.30x requests/s (1.27x to 1.33x), 0.80x p99 (0.78x to 0.82x).", advice.evidence.last
    assert_equal "before_fork { Process.warmup }", advice.lines["config/puma.rb"]
    assert_match(/and the lines below\z/, advice.change)
    assert_equal "the lines gone, and a restart", advice.undo
  end

  # @param per_s [Numeric] requests that two workers of one thread serve, which each keep it busy for 10 ms
  def of_one_thread(per_s, **)
    ask(Advise::Rules::Gc, of: workload(endpoints: [endpoint_demand(demand([10], gc_ms: 2))]), observation: in_force(cluster(2), **), today: forecast("2x1", per_s)).first
  end

  test "full collections wait for idle moments only where there are some" do
    [50, 100].each do |per_s|
      assert_match(/^out_of_band \{ GC.start/, of_one_thread(per_s).lines["config/puma.rb"])
      assert_match(/until the worker is idle/, of_one_thread(per_s).change)
    end
    [101, 199].each do |per_s|
      assert_equal "before_fork { Process.warmup }", of_one_thread(per_s).lines["config/puma.rb"]
      refute_match(/idle/, of_one_thread(per_s).change)
    end
  end

  test "what each worker loads by itself is not warmed up in their master" do
    assert_empty of_one_thread(50, "puma preload_app": "false").lines
  end

  test "without lines it is the settings that go back, and where nothing could be gained nothing is said" do
    alone = asked(workers_count: nil)
    assert_predicate alone, :remark?
    assert_empty alone.lines
    assert_equal "the RUBY_GC_* variables as they were", alone.undo
    refute_match(/lines below/, alone.change)
    assert_nil asked(gain: 101, p99_ms: 95)
  end
end
