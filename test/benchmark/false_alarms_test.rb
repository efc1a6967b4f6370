# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/false_alarms"

class FalseAlarmsTest < TunerTest
  include FalseAlarms

  computes!

  QUIET, NOISY = Condition::ALL
  STILL = Condition.new(name: "still", trend: 0.0, walk_sd: 0.0, process_sd: 0.0, spike_ratio: 0.0, spike_depth: 0.0)

  def simulations = @simulations ||= Condition::ALL.map { |condition| Simulation.new(condition, repeats_count: 20, seed: 1).run }

  def tails = @tails ||= Condition::ALL.map { |condition| Tail.new(condition, repeats_count: 3, seed: 1).run }

  test "a machine does what is said of it" do
    speeds = ->(condition) { Array.new(400) { |seed| condition.log_speeds(2, Random.new(seed)) } }
    assert_equal [[0.0, 0.0]], speeds[STILL].uniq
    steps = speeds[QUIET].map { |one, two| two - one }
    # Two processes of 1.2%, a step of 0.2%.
    assert_in_delta 0.0171, Math.sqrt(steps.sum { |step| step**2 } / steps.size), 0.002
    assert_in_delta 0.08, speeds[NOISY.with(trend: 0.0, walk_sd: 0.0, process_sd: 0.0)].flatten.count(&:negative?) / 800.0, 0.03
    assert_operator speeds[NOISY.with(trend: 0.0, walk_sd: 0.0, process_sd: 0.0)].flatten.min, :>=, Math.log(0.75)
  end

  test "a trend goes on in one direction" do
    trending = STILL.with(trend: 0.1).log_speeds(41, Random.new(1))
    assert_in_delta trending[40], 2 * trending[20], 1e-12
    assert_operator trending[40].abs, :<=, 0.1
  end

  test "pairs are neighbours, each as often first as the other" do
    layout = Layout.pairs((0...40).to_a, Random.new(1), effect: 100)
    assert_equal [[1]], [layout.baseline.zip(layout.variant).map { |one, other| (other - 100 - one).abs }.uniq]
    assert_equal 10, layout.baseline.count(&:even?)
    assert_equal [3, 3], [layout.first(3).baseline.size, layout.first(3).differences.size]
  end

  test "blocks split the pairs in halves" do
    assert_equal [[0, 1], [3, 4]], Layout.blocks([0, 1, 2, 3], effect: 1).to_h.values
  end

  test "where nothing wanders, every method finds the effect and nothing else" do
    still = STILL.with(process_sd: 1e-6)
    Methods::ALL.each do |method|
      speeds = still.log_speeds(20, Random.new(1))
      interval = method.interval(speeds, Random.new(2), effect: 0.05)
      assert interval.excludes?(0.0), method::TITLE
      assert [-2, -1, 0, 1, 2].any? { |millionths| !interval.excludes?(0.05 + millionths * 1e-6) }, method::TITLE
    end
  end

  test "ours is the library's own" do
    layout = Layout.new(baseline: [0.0] * 6, variant: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert_equal [0.1, 0.6], [Interval.ours(layout).low.round(12), Interval.ours(layout).high.round(12)]
    refute Interval.ours(layout.first(5)).excludes?(0.0)
  end

  test "Welch's test gives a textbook's p-value" do
    # R: t.test(c(1, 2, 3, 4, 5), c(2, 4, 6, 8, 10)): t = -1.8974, df = 5.8824, p-value = 0.1075
    welch = Welch.of([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
    assert_equal [1.8974, 5.8824], [(welch.difference / welch.standard_error).round(4), welch.freedom.round(4)]
    refute welch.excludes?(0)
    assert welch.excludes?(-2)
  end

  test "plans stop when they may" do
    clear = Layout.new(baseline: [0.0] * 40, variant: [0.5] * 40)
    assert_equal [10, 6], Plans::ALL.map { |plan| plan.end_of(clear).rounds_count }
    equal = Layout.new(baseline: [0.0] * 40, variant: [0.001, -0.001] * 20)
    assert_equal [10, 40], Plans::ALL.map { |plan| plan.end_of(equal).rounds_count }
    open = Layout.new(baseline: [0.0] * 40, variant: [0.5, -0.5] * 20)
    assert_equal [40, 40], Plans::ALL.map { |plan| plan.end_of(open).rounds_count }
  end

  test "more false alarms than promised are chance, or not" do
    tally = ->(count) { Tally.new.tap { |one| 1_000.times { |index| one.add(false_alarm: index < count, rounds: 2) } } }
    assert_equal [false, false, true], [50, 70, 72].map { |count| tally[count].broken? }
    assert_in_delta 0.07, tally[70][:false_alarm]
    assert_in_delta 2, tally[70][:rounds]
    simulation = Simulation.new(QUIET, repeats_count: 100, seed: 1)
    100.times { simulation.plan(Plans::Ours).add(false_alarm: true) }
    Simulation::ROUNDS_COUNTS.each { |count| simulation.fixed(Methods::Ours, count).add(false_alarm: false) }
    assert_equal ["quiet, looks: 100.0% false alarms"], FalseAlarms.broken([simulation], [])
  end

  test "the same seed gives the same page, which names its command" do
    options = Options.parse(%w[--repeats 20])
    machine = PumaTuner::Probe::MachineFacts.read
    pages = Array.new(2) do
      @simulations = @tails = nil
      Page.new(options:, simulations:, tails:, beside: [], broken: FalseAlarms.broken(simulations, tails), machine:, at: Time.utc(2026, 11, 21)).to_s
    end
    assert_match(/^Made with .+ on 2026-11-21: .+\.$/, pages.first)
    assert_equal 1, pages.uniq.size
    ["bin/exec rake false_alarms", "20 repeats of each (p99: 6), seed 1", "## A noisy machine", "Student's t", "looks at 10, 20, 40 rounds"].each do |text|
      assert_includes pages.first, text
    end
    refute_includes pages.first, File.expand_path("../..", __dir__)
  end

  test "a broken promise is told" do
    page = Page.new(options: Options.parse([]), simulations: [], tails: [], beside: [], machine: PumaTuner::Probe::MachineFacts.read, broken: ["quiet, looks: 9.0% false alarms"])
    assert_match(/\*\*Ours does not keep its promise:\*\*\n- quiet, looks/, page.results)
  end

  test "a run has its tables, and keeps the promise" do
    page = FalseAlarms.run(Options.parse(%w[--repeats 3]), PumaTuner::Probe::MachineFacts.read)
    assert_equal [:met], page.outcomes
    assert_includes page.results, "3 repeats of each"
  end

  test "takes its options, and refuses a page of half a run" do
    assert_equal [7, 2, false], Options.parse(%w[--repeats 7 --seed 2]).deconstruct
    assert Options.parse(%w[--write]).write
    [%w[--write --repeats 100], %w[--repeats 0], %w[more]].each do |words|
      assert_raises(OptionParser::ParseError, words.join(" ")) { Options.parse(words) }
    end
  end

  def beside(neighbour, repeats_count: 150) = Neighbour::Simulation.new(neighbour, repeats_count:, seed: 1).run

  test "proofs beside others keep what they promise" do
    Neighbour::ALL.each { |neighbour| assert_empty beside(neighbour).broken, neighbour.name }
  end

  test "a rule that breaks the promise is found out" do
    simulation = beside(Neighbour::ALL.first, repeats_count: 1)
    200.times { |index| simulation.tally.add(false_alarm: index.even?, shown: false, covered: false, again: 0) }
    assert_equal 3, simulation.broken.size
  end
end
