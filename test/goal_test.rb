# frozen_string_literal: true

require "test_helper"
require "json"

class GoalTest < TunerTest
  Goal = PumaTuner::Goal

  test "a goal is a share of the requests and the time that each of these must stay below" do
    goal = Goal.read("90% < 300ms")
    assert_equal [nil, "p90", 300_000_000, 0.9], [goal.endpoint, goal.percentile, goal.limit_ns, goal.ratio]
    assert_equal ["p99.9", 1_500_000_000], Goal.read(" 99.9 %<1.5 s ").then { |one| [one.percentile, one.limit_ns] }
  end

  test "a goal may be of one endpoint, whose name may hold colons" do
    assert_equal ["GET /articles/:id", "p99"], Goal.read("GET /articles/:id: 99% < 1s").then { |one| [one.endpoint, one.percentile] }
  end

  test "a goal's text can be read again, and so can its document" do
    ["90% < 300 ms", "GET /: 99.9% < 1 s", "50% < 1234.5 ms"].each do |text|
      goal = Goal.read(text)
      assert_equal text, goal.to_s
      assert_equal goal, Goal.from_document(JSON.parse(JSON.generate(goal.to_document)))
    end
  end

  test "anything else is no goal" do
    ["", "90%", "90 < 300ms", "100% < 1s", "90% < 300", "90% > 300ms", "0% < 1s", "90% < 0ms", "p99 < 1s", "90% < 300ms soon", "90% < 86401s", "90% < #{"9" * 400}s"].each do |text|
      assert_nil Goal.read(text), text
    end
  end
end
