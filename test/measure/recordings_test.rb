# frozen_string_literal: true

require "test_helper"
require "support/builders"

class RecordingsTest < TunerTest
  include Builders

  Recordings = PumaTuner::Measure::Recordings
  Times = PumaTuner::Measure::LoadedWindow::Times

  # In the place of a LoadedWindow: takes a thousandth of the time, and gives what it is told to.
  class Window
    attr_reader :asked

    # @param answers [Hash{String => #call}] by topology, instead of the observation
    def initialize(test, answers = {})
      @test = test
      @answers = answers
      @asked = []
    end

    def new(topology:, times:, **)
      lambda do |&told|
        topology ||= @test.topology("1x5")
        @asked << [topology.to_s, times]
        told&.call("the app serves", times.expected_s)
        sleep(times.expected_s / 1_000)
        @answers[topology.to_s]&.call || @test.observation(topology:)
      end
    end
  end

  def mix(count = 1) = PumaTuner::Load::Mix.of_paths(Array.new(count) { |number| "/#{number}" })

  def plan(**fields)
    traffic = PumaTuner::Load::Traffic.new(mix: mix, generator: nil, connections_count: 20, seed: 1)
    Recordings::Plan.new(command: nil, traffic:, today: nil, settings: nil, workers: [1, 2], times: Times.new(warmup_s: 2, duration_s: 10), boot_limit_s: 60, limit_s: nil, **fields)
  end

  # @return [Array(Observation, Window)]
  def recorded(answers: {}, told: nil, kept: ->(_) {}, **fields)
    window = Window.new(self, answers)
    [Recordings.new(plan(**fields), kept:, window:).call(&told), window]
  end

  def names(observation) = observation.companions.map { |companion| companion.topology.to_s }

  test "today's settings come first, then the others, each for 60% of the time" do
    observation, window = recorded
    assert_equal [topology("1x5"), %w[1x1 2x5 2x1]], [observation.topology, names(observation)]
    assert_equal [["1x5", 10], ["1x1", 6.0], ["2x5", 6.0], ["2x1", 6.0]], window.asked.map { |text, times| [text, times.duration_s] }
    assert_equal [2], window.asked.map { |_, times| times.warmup_s }.uniq
  end

  test "three of each request of the mix are wanted, for which it is recorded as long as today's at most" do
    _, window = recorded(traffic: plan.traffic.with(mix: mix(7)))
    assert_equal [0, 21, 10], [window.asked.first.last.least_requests_count, window.asked.last.last.least_requests_count, window.asked.last.last.duration_limit_s]
  end

  test "settings that are named are recorded instead, but today's again" do
    observation, = recorded(settings: %w[3x2 1x5].map { |text| topology(text) })
    assert_equal %w[3x2], names(observation)
    assert_empty recorded(settings: []).first.companions
  end

  test "one that fails is left out, with the reason, and the others are recorded" do
    fails = -> { raise PumaTuner::ServerFailed.new("The server ended", log_tail: ["no"]) }
    few = -> { observation(topology: topology("2x5"), endpoints: [endpoint_observation(traces: [trace("held", 1)])]) }
    observation, = recorded(answers: {"1x1" => fails, "2x5" => few})
    assert_equal %w[2x1], names(observation)
    assert_equal [Unknown.of(:companion, :failed, whose: "1x1", detail: "The server ended. Start it by hand with the same command to see the whole output."),
      Unknown.of(:companion, :few_requests, whose: "2x5", requests_count: 1)], observation.unknown.sort_by(&:whose)
  end

  test "today's own failure is one" do
    assert_raises(PumaTuner::InvalidMeasurement) { recorded(answers: {"1x5" => -> { raise PumaTuner::InvalidMeasurement, "500" }}) }
  end

  test "an interruption finds all that was recorded before" do
    kept = []
    assert_raises(Interrupt) { recorded(answers: {"2x5" => -> { raise Interrupt }}, kept: ->(observation) { kept << observation }) }
    assert_equal [[], %w[1x1]], kept.map { |observation| names(observation) }
  end

  test "the time that is left counts all that is still to come" do
    left = []
    recorded(told: ->(_, left_s) { left << left_s })
    assert_in_delta plan.times.with(part_load_s: 6.0).expected_s + 3 * plan.times.with(duration_s: 6.0).expected_s, left.first, 0.01
    assert_operator left.first, :>, left[1]
  end

  test "an app that turns out to collect much garbage is recorded with many threads as well" do
    collecting = observation(topology: topology("1x5")).with(budget: PumaTuner::Probe::Budget.zero.with(wall_ns: 10 * MS, cpu_ns: 6 * MS, gc_ns: 4 * MS))
    _, window = recorded(answers: {"1x5" => -> { collecting }})
    assert_equal %w[1x5 1x1 2x5 2x1 2x8], window.asked.map(&:first)
  end

  test "today's server has a part load after it, others have none" do
    _, window = recorded
    assert_equal({"1x5" => 6.0, "1x1" => 0, "2x5" => 0, "2x1" => 0}, window.asked.to_h { |name, times| [name, times.part_load_s] })
    cut = Times.new(warmup_s: 2, duration_s: 10, part_load_s: 6).within(9)
    assert_equal [1.0, 5.0, 3.0], [cut.warmup_s, cut.duration_s, cut.part_load_s]
    assert_in_delta 9, cut.expected_s, 0.001
  end

  # The window takes a thousandth: of today's 0.013 s, and 0.004 s less for the others, all fit into 1 s; into less than both, one does not.
  test "when time is short, others are left out first" do
    assert_equal %w[1x1 2x5 2x1], names(recorded(limit_s: 60).first)
    slow = -> { sleep(0.25) && nil }
    observation, window = recorded(limit_s: 0.3, answers: {"1x5" => slow, "1x1" => slow})
    assert_empty names(observation)
    assert_equal 1, window.asked.size
    assert_includes observation.unknown, Unknown.of(:companion, :no_time, whose: "1x1")
  end

  test "a time limit cuts the longest warm-up first, and then all in equal shares" do
    times = Times.new(warmup_s: 2, duration_s: 10)
    assert_equal 20, times.warmup_limit_s
    assert_equal times, times.within(nil)
    assert_equal times, times.within(30)
    assert_equal [2, 10, 5], times.within(15).then { |cut| [cut.warmup_s, cut.duration_s, cut.warmup_limit_s] }
    cut = times.within(6)
    assert_equal [1.0, 5.0, 1.0], [cut.warmup_s, cut.duration_s, cut.warmup_limit_s]
  end
end
