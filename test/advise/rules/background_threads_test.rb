# frozen_string_literal: true

require "test_helper"
require "support/advising"

class BackgroundThreadsRuleTest < TunerTest
  include Advising

  # @param ratio [Float] of the time in which the thread has the GVL
  def with_thread(name, ratio) = workload.with(background: [Model::BackgroundDemand.new(name:, burst_ns: (10 * MS * ratio).round, gap_ns: (10 * MS * (1 - ratio)).round)])

  test "a thread that has the GVL for a twentieth of the time is named, with the forecast without it" do
    asked = []
    advice = ask(Advise::Rules::BackgroundThreads, of: with_thread("reporter", 0.3)) { |what_if, _| asked << what_if and forecast("1x5", 130) }.first
    assert_equal "The thread reporter takes the GVL from requests", advice.title
    assert_equal ["without thread reporter"], asked
    assert_equal "reporter has the GVL of its process for 30.0% of the time, 3.00 ms at a stretch in the mean.", advice.evidence.first
    assert_empty ask(Advise::Rules::BackgroundThreads, of: with_thread("reporter", 0.049))
    assert_empty ask(Advise::Rules::BackgroundThreads, of: with_thread("puma_tuner console", 0.3))
  end

  test "what requests waited for because of it is told" do
    blames = [Probe::Blame.new(kind: "thread", holder: "reporter", wait_ns: 30), Probe::Blame.new(kind: "request", holder: "reporter", wait_ns: 70)]
    observation = observation(endpoints: [endpoint_observation.with(blame: blames)])
    assert_equal "30.0% of what requests waited for the GVL was its doing.", ask(Advise::Rules::BackgroundThreads, observation:, of: with_thread("reporter", 0.3)).first.evidence.last
  end

  test "a thread of a known gem has a cure of its own, and lines where that gem is there" do
    advice = ->(name, **gems) { ask(Advise::Rules::BackgroundThreads, observation: in_force(observation, **gems), of: with_thread(name, 0.3)).first }
    assert_equal "solid_queue_mode :fork", advice.call("solid_queue-worker(1)", "gem solid_queue": "1.7.2").lines["config/puma.rb"]
    assert_empty advice.call("solid_queue-worker(1)").lines
    assert_match(/bin\/jobs/, advice.call("solid_queue-worker(1)").change)
    assert_match(/AnyCable/, advice.call("action_cable-worker").change)
    assert_match(/jobs in a process of their own/, advice.call("GoodJob::Scheduler").change)
    assert_match(/its work in a process of its own/, advice.call("reporter").change)
  end
end
