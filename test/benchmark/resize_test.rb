# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/resize"

class ResizeBenchmarkTest < TunerTest
  kind :integration

  time_limit 120

  def survived(**changes)
    Resizing::Survived.new(minutes: 2, seed: 1, answered_count: 900, lost: [], orders_count: 60, readings_count: 60, miscounted: [], last: [[4, 4, 4], [2, 2, 4]], complaints: [], **changes)
  end

  def shape(**changes)
    Resizing::Shape.new(name: "waits", path: "/io", fixed: {1 => [60.0, 9], 8 => [500.0, 9]}, threads_count: 7, ended: [460.0, 10], told: [], **changes)
  end

  test "a request that is lost, a thread that is miscounted, and a size that stays break a promise" do
    assert_empty survived.broken
    assert_match(/2 requests were lost: {"503" => 2}/, survived(lost: %w[503 503]).broken.first)
    assert_match(/other threads than there were/, survived(miscounted: [[7, [5, 4]]]).broken.first)
    assert_match(/after it/, survived(last: [[4, 4, 4], [5, 5, 5]]).broken.first)
    assert_match(/after it/, survived(last: [[4, 3, 4]]).broken.first)
    assert_equal ["puma_tuner: x; please report this"], survived(complaints: ["puma_tuner: x; please report this"]).broken
  end

  test "what auto ends with is held against the best fixed number" do
    assert_equal [8, :met], [shape.best.first, shape.outcome]
    assert_equal :missed, shape(ended: [440.0, 10]).outcome
    page = Resizing::Page.new(machine: PumaTuner::Probe::MachineFacts.read, survived:, shapes: [shape, shape(ended: [440.0, 10])])
    assert_equal %i[met met missed], page.outcomes
    assert_match(/\*\*All promises were kept\.\*\*/, page.to_s)
    assert_match(/\| 8: 500\/s, p99 9 ns \| 7: 460\/s, p99 10 ns \| 0\.92x \| met \|/, page.to_s)
  end

  test "a cluster that is resized at random for half a minute loses no request, and Puma counts right" do
    result = Resizing::RandomSizes.new(minutes: 0.5, seed: 3).run
    assert_empty result.broken
    assert_operator result.answered_count, :>, 200
    assert_operator result.orders_count, :>, 12
  end
end
