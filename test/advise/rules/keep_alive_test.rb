# frozen_string_literal: true

require "test_helper"
require "support/advising"

class KeepAliveRuleTest < TunerTest
  include Advising

  def asked(*requests, of: workload, today: "#{requests.size}x3", **settings, &block)
    ask(Advise::Rules::KeepAlive, observation: in_force(cluster(requests.size, requests:), **settings), of:, today:, &block)
  end

  test "a worker with a third more than its share is told, with the forecast of connections that end" do
    reuse = []
    advice = asked(900, 300) { |_, settings| reuse << settings[:arrivals].reuse_count and forecast("2x3", 130) }.first
    assert_equal "The workers served 900 and 300 requests.", advice.evidence.first
    assert_equal [20], reuse
    assert_equal({"config/puma.rb" => "max_keep_alive 20"}, advice.lines)
  end

  test "an even spread, and what chance makes of few requests, are nothing" do
    assert_empty asked(790, 410)
    refute_empty asked(810, 390)
    assert_empty asked(20, 8)
  end

  test "connections that are opened again and again may cost more than they bring" do
    assert_empty(asked(900, 300) { forecast("2x3", 97) })
  end

  test "nor are they ended where the load could then not be borne" do
    assert_empty(asked(900, 300) { forecast("2x3", 100).with(unsteady: "the queue grows") })
  end

  test "nor where today's setting does not bear it either" do
    unsteady = forecast("2x3", 100).with(unsteady: "the queue grows")
    assert_empty(asked(900, 300, today: unsteady) { unsteady })
  end

  test "the load is the one that today's setting is forecast with, but for the connections that end" do
    loads = []
    open_loop = Model::Arrivals.open(40)
    asked(900, 300, today: forecast("2x3", 40, arrivals: open_loop)) do |_, settings|
      loads << settings[:arrivals]
      forecast("2x3", 40, arrivals: loads.last)
    end
    assert_equal [open_loop.with(reuse_count: 20)], loads.uniq
  end

  test "nothing is said where connections end anyway, of one worker, or of a Puma that counts otherwise" do
    assert_empty asked(900, 300, of: workload.with(arrivals: Model::Arrivals.closed(10, reuse_count: 1)))
    assert_empty asked(900, 300, "puma enable_keep_alives": "false")
    assert_empty asked(900)
    assert_empty asked(900, 300, of: workload.with(puma_version: "6.6.1"))
  end
end
