# frozen_string_literal: true

require "test_helper"
require "support/advising"

class CpuQuotaRuleTest < TunerTest
  include Advising

  def asked(cpu_quota_cores, today: "4x3", **settings, &block)
    ask(Advise::Rules::CpuQuota, observation: in_force(observation(cpu_quota_cores:, cores_count: 16), **settings), today:, &block)
  end

  test "more workers than the quota pays for are told, with as many as it does" do
    advice = asked(1.5) { |_, settings| forecast(settings[:topology].to_s, 120) }.first
    assert_equal "4 workers share a quota of 1.50 cores", advice.title
    assert_equal [{"config/puma.rb" => "workers 2"}, {"workers" => "2"}], [advice.lines, advice.factors]
    assert_in_delta 1.2, advice.throughput_ratio.value
  end

  test "one worker is the single process of its forecast, without a master" do
    advice = asked(0.5, today: "2x3") { |_, settings| forecast(settings[:topology].to_s, 120) }.first
    assert_equal [{"config/puma.rb" => "workers 0"}, {"workers" => "0"}], [advice.lines, advice.factors]
    assert_equal "a single process (no workers)", advice.change
  end

  test "WEB_CONCURRENCY=auto is named, and set in its place" do
    advice = asked(1.5, "env WEB_CONCURRENCY": "auto").first
    assert_match(/auto/, advice.evidence.last)
    assert_equal({"environment" => "WEB_CONCURRENCY=2"}, advice.lines)
    refute_match(/auto/, asked(1.5, "env WEB_CONCURRENCY": "4").first.evidence.last)
  end

  test "the fewest workers that are forecast to be as good are advised, and none where all fewer are worse" do
    advice = asked(1.5) { |_, settings| forecast(settings[:topology].to_s, (settings[:topology].workers_count == 3) ? 99 : 90) }.first
    assert_equal({"workers" => "3"}, advice.factors)
    assert_empty asked(1.5) { forecast("2x3", 97) }
  end

  def unsteady(text) = forecast(text, 100).with(unsteady: "the queue grows")

  # @param counts [Array<Integer>] workers that bear the load
  def borne_by(*counts)
    lambda do |_, settings|
      topology = settings[:topology]
      counts.include?(topology.workers_count) ? forecast(topology.to_s, 100) : unsteady(topology.to_s)
    end
  end

  test "fewer workers that can't bear the load are passed over, for the fewest that can" do
    assert_equal({"workers" => "3"}, asked(1.0, &borne_by(3)).first.factors)
    assert_empty asked(1.0, &borne_by)
  end

  test "where today's workers can't bear the load, only fewer that can are advised, with nothing to hold them against" do
    advice = asked(1.0, today: unsteady("4x3"), &borne_by(2, 3)).first
    assert_equal [{"workers" => "2"}, nil], [advice.factors, advice.throughput_ratio]
    assert_empty asked(1.0, today: unsteady("4x3"), &borne_by)
  end

  test "where nothing is forecast, twice as many as the quota pays for are too many" do
    refute_empty asked(2.0)
    assert_empty asked(2.1)
  end

  test "without a quota, or within it, there is nothing to say" do
    assert_empty asked(nil)
    assert_empty asked(3.2)
    assert_empty asked(0.5, today: "1x5")
  end
end
