# frozen_string_literal: true

require "test_helper"
require "json"
require "support/trials_made"

# What `auto` decides of what is known: acts where the forecast is sure, one thread at a time, and not again too soon.
class TrialStepTest < TunerTest
  include TrialsMade

  def decided(**others) = Trial::Step.of(situation(**others), cool_down_s: 60)

  def kind(...) = decided(...).kind

  test "a number that is surely better is gone to, one thread at a time" do
    assert_equal [:step, 5], decided.then { |step| [step.kind, step.facts["to"]] }
    far = decided(ratios: {5 => ratio(0.95, 0.7, 1.3), 8 => ratio(0.5)})
    assert_equal [5, 8], far.facts.values_at("to", "target")
    assert_equal 3, decided(ratios: {1 => ratio(0.5), 8 => ratio(0.6)}).facts["to"]
    assert_equal 3, decided(ratios: {2 => ratio(0.5), 1 => ratio(0.5), 8 => ratio(0.503)}).facts["to"], "of as good ones the nearest"
  end

  test "what is not sure, or not allowed, is left" do
    assert_equal :not_sure, kind(ratios: {5 => ratio(0.7, 0.4, 1.0)})
    assert_equal [5, "p99"], decided(ratios: {3 => ratio(1.1), 5 => ratio(0.7, 0.4, 1.2)}).facts.values_at("count", "metric")
    assert_equal :none_steady, kind(ratios: {9 => ratio(0.1)})
    assert_equal :none_steady, kind(ratios: {})
    assert_equal :no_other, kind(ratios: {}, least: 4, most: 4)
    assert_equal :no_other, kind(ratios: {}, least: 5, most: 3), "a pool of database connections is below the range"
    assert_equal :none_steady, kind(ratios: {}, least: 5, most: 5)
    assert_equal :no_forecast, kind(why_not: "few_requests")
    assert_equal :deployed, kind(youngest_s: 59)
  end

  test "a forecast is no surer for a model that is very wrong" do
    cost = ->(error_ratio, *others) { Stats::Estimate.of_prediction([0.125, *others, 0.125, 0.125], error_ratio:) }
    [[], [0.01]].each do |others|
      assert_equal :step, kind(ratios: {5 => cost.call(0.2, *others)})
      [2.0, 2.3, 2.4, 5.0].each { |error_ratio| assert_equal :not_sure, kind(ratios: {5 => cost.call(error_ratio, *others)}), error_ratio }
    end
  end

  test "after a step it rests: longer to go down than up, and longest to go back" do
    down = {3 => ratio(0.5)}
    assert_equal :resting, kind(step_s: 950, direction: 1, served_count: 9_999)
    assert_equal :step, kind(step_s: 930, direction: 1, served_count: 9_999)
    assert_equal :resting, kind(ratios: down, step_s: 900, direction: -1, served_count: 9_999)
    assert_equal :step, kind(ratios: down, step_s: 870, direction: -1, served_count: 9_999)
    assert_equal :resting, kind(ratios: down, step_s: 800, direction: 1, served_count: 9_999)
    assert_equal :step, kind(ratios: down, step_s: 750, direction: 1, served_count: 9_999)
    assert_equal :few_requests, kind(step_s: 100, direction: 1, served_count: 999)
    assert_equal :step, kind(step_s: 100, direction: 1, served_count: 1_000)
  end

  test "a number that did harm is not tried again before its time" do
    assert_equal :refused, kind(refused: {5 => 1_001.0})
    assert_equal :step, kind(refused: {5 => 999.0, 3 => 2_000.0})
  end

  test "a step is only made where the control group has memory for it in all workers" do
    full = {workers_count: 4, memory_limit_bytes: 1_000 * Units::MIB}
    assert_equal :step, kind(**full, memory_bytes: 871 * Units::MIB)
    assert_equal :memory, kind(**full, memory_bytes: 872 * Units::MIB), "128 MiB for four threads"
    assert_equal :step, kind(**full, memory_bytes: 999 * Units::MIB, ratios: {3 => ratio(0.5)}), "down it always may"
    assert_equal :step, kind(**full, memory_limit_bytes: nil, memory_bytes: nil)
    assert_equal :resting, kind(**full, memory_bytes: 999 * Units::MIB, step_s: 990, direction: 1)
  end

  test "a situation is the same after it was written and read, and so is what is decided" do
    one = situation
    again = Trial::Situation.from_document(JSON.parse(JSON.generate(one.to_document)))
    assert_equal one, again
    assert_equal Trial::Step.of(one, cool_down_s: 60), Trial::Step.of(again, cool_down_s: 60)
  end

  test "each decision has words" do
    said = [decided, decided(ratios: {5 => ratio(0.7, 0.4, 1.2)}), decided(ratios: {}), decided(why_not: "few_requests"), decided(youngest_s: 5),
      decided(step_s: 990, direction: 1), decided(step_s: 100, direction: 1), decided(refused: {5 => 1_100.0}),
      Statement.of(:undone, to: 5, ended: Statement.of(:errors, before: 0.0, after: 0.1)), Statement.of(:restarted, come: 2, all: 3),
      Statement.of(:silent, seconds: 61.2), Statement.of(:undone, to: 5, ended: Statement.of(:silent)),
      Statement.of(:stepped, to: 5, ratio: ratio(0.5), metric: "throughput", measured: nil), Statement.of(:kept, to: 5),
      Statement.of(:stepped, to: 5, ratio: ratio(0.5), metric: "throughput", measured: ratio(0.7)),
      Statement.of(:taken_back, to: 5, ended: Statement.of(:few_requests, before: 300, after: 12, needed: 100)),
      decided(workers_count: 2, memory_bytes: 990 * Units::MIB, memory_limit_bytes: 1_000 * Units::MIB),
      Statement.of(:tried, to: 5, ratio: ratio(0.5), metric: "p99")]
    words = said.map { |statement| Report::TrialWords.step(statement) }
    assert_includes Report::TrialWords.step(decided(why_not: "no_steady_state")), "the simulation of today's threads has no steady state"
    assert_equal words.size, words.uniq.size
    words.each { |text| assert_operator text.split.size, :>, 5, text }
    assert_includes words.first, "it would go to 5 threads: 5 threads, with a p99 of 0.80x (0.72–0.88)"
    assert_includes words.join, "a throughput of 2.00x (1.82–2.22)"
    assert_includes words.join, "5 threads are undone: 10.0% of its responses were errors"
    assert_includes words.join, "5 threads are taken back from all workers: too few requests to judge: 12 with them and 300 without, where it takes 100 of each"
    assert_includes words.join, "2 of 3 processes are new"
    assert_includes words.join, "5 threads are undone: a process of the server told nothing of its threads, as it could not write"
    assert_includes words.join, "(forecast: a throughput of 2.00x (1.82–2.22), measured: a p99 of 0.70x (0.63–0.77))"
    assert_includes words.join, "the processes use 990 MiB of 1000 MiB, which is too much for 5 threads"
  end
end
