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

  test "threads of one name count together" do
    four = workload.with(background: with_thread("reporter", 0.02).background.map { |thread| thread.with(threads_count: 4) })
    assert_match(/ for 8\.0% of the time/, ask(Advise::Rules::BackgroundThreads, of: four).first.evidence.first)
  end

  test "what requests waited for because of it is told" do
    blames = [Probe::Blame.new(kind: "thread", holder: "reporter", wait_ns: 30), Probe::Blame.new(kind: "request", holder: "reporter", wait_ns: 70)]
    observation = observation(endpoints: [endpoint_observation.with(blame: blames)])
    assert_equal "30.0% of what requests waited for the GVL was its doing.", ask(Advise::Rules::BackgroundThreads, observation:, of: with_thread("reporter", 0.3)).first.evidence.last
  end

  test "a thread of a known gem has a cure of its own, and lines where that gem is there" do
    advice = ->(name, **gems) { ask(Advise::Rules::BackgroundThreads, observation: in_force(observation, **gems), of: with_thread(name, 0.3)).first }
    ["worker-a#bc#e", "dispatcher-#f#aa#", "scheduler-be#", "supervisor(async)-#c#"].each do |name|
      assert_equal "solid_queue_mode :fork if respond_to?(:solid_queue_mode)", advice.call(name, "gem solid_queue": "1.5.0").lines["config/puma.rb"]
      assert_match(/bin\/jobs/, advice.call(name, "gem solid_queue": "1.5.0").change)
      assert_empty advice.call(name).lines
    end
    assert_match(/AnyCable/, advice.call("ActionCable-worker-#").change)
    assert_match(/jobs in a process of their own/, advice.call("GoodJob::Scheduler(queues=* max_threads=#)-thread-#").change)
    assert_match(/its work in a process of its own/, advice.call("reporter").change)
  end

  test "a pool without a name is Solid Queue's where that has its other threads in the process" do
    line = lambda do |*names|
      background = names.map { |name| Probe::ThreadObservation.new(worker_index: nil, name:, requests_count: nil, budget: Probe::Budget.zero, run_queue_wait_ns: nil, cycles_count: 1) }
      observation = in_force(observation().with(background:), "gem solid_queue": "1.5.0")
      ask(Advise::Rules::BackgroundThreads, observation:, of: with_thread("worker-#", 0.3)).first.lines["config/puma.rb"]
    end
    assert_match(/:fork/, line.call("dispatcher-#f#aa#"))
    assert_nil line.call("worker-#")
  end

  test "the line is Ruby that Puma reads with the plugin and without it" do
    read = lambda do |dsl|
      dsl.instance_eval(Advise::Rules::BackgroundThreads::FORK)
      dsl.mode
    end
    plain = Class.new { attr_reader :mode }
    plugged = Class.new(plain) { def solid_queue_mode(mode) = @mode = mode }
    assert_equal [nil, :fork], [plain, plugged].map { |dsl| read.call(dsl.new) }
  end
end
