# frozen_string_literal: true

require "test_helper"
require "support/advising"

class AffinityRuleTest < TunerTest
  include Advising

  def recorded(workers_count = 2, cores: "0-3", **) = in_force(cluster(workers_count, **), cores:)

  def asked(observation = recorded, today: "2x3", of: workload, per_s: 120) = ask(Advise::Rules::Affinity, observation:, today:, of:) { |_, settings| forecast(today, settings[:affinity] ? per_s : 1) }

  test "workers whose threads hand the GVL around are bound, with the forecast of it" do
    advice = asked.first
    assert_in_delta 1.2, advice.throughput_ratio.value
    assert_equal({"affinity" => "on"}, advice.factors)
    assert_match(/lets go of the GVL 2\.0 times/, advice.evidence.first)
  end

  test "less than a twentieth to gain is not worth it" do
    assert_empty asked(per_s: 104)
    refute_empty asked(per_s: 105.1)
  end

  test "more requests at the price of a longer tail are not advised" do
    today = forecast("2x3", 100)
    asked = ->(p99_ms) { ask(Advise::Rules::Affinity, observation: recorded, today:) { forecast("2x3", 120, p99_ms:) } }
    assert_empty asked.call(111)
    refute_empty asked.call(109)
  end

  test "nobody is bound who has one thread, more workers than cores, a quota, a core of its own already, or native code" do
    assert_empty asked(today: "2x1")
    assert_empty asked(recorded(5), today: "5x3")
    assert_empty asked(recorded(cpu_quota_cores: 2.0))
    assert_empty asked(recorded(cores: "2"))
    assert_empty asked(of: workload(endpoints: [endpoint_demand(demand([2, 2], [1], wait_kinds: %w[compute]))]))
    refute_empty asked(recorded(cpu_quota_cores: 4.0))
  end

  test "a single process has no boot hook to do it in" do
    assert_empty asked(in_force(observation, cores: "0-3"), today: "1x3")
  end

  test "the hook is called as that Puma calls it" do
    line = ->(puma_version) { asked(of: workload.with(puma_version:)).first.lines.fetch("config/puma.rb") }
    assert_match(/^  before_worker_boot do \|index\|$/, line.call("7.2.1"))
    assert_match(/^  on_worker_boot do \|index\|$/, line.call("6.6.1"))
  end
end
