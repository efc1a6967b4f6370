# frozen_string_literal: true

require "test_helper"
require "json"
require "support/lane_fixture"

class LaneComparisonTest < TunerTest
  include LaneFixture

  test "the share of the wait for the GVL is of the pool's time that is not idle" do
    recording = lane_recording
    assert_in_delta 70.0 / 180, recording.gvl_wait_ratio
    assert_nil lane_recording([process_lanes([["puma srv tp 001", "idle", 100, {}]])]).gvl_wait_ratio
    assert_nil lane_recording([]).gvl_wait_ratio
  end

  test "the longest wait is told with whom it was for, and who held the GVL meanwhile" do
    wait = lane_recording.longest_wait
    assert_equal ["puma srv tp 002", 0, 40 * MS, "GET /<b>", 10 * MS], [wait.lane.name, wait.from_ns, wait.duration_ns, wait.work, wait.nobody_ns]
    assert_equal [["puma srv tp 001", "GET /a", 30 * MS]], wait.holders.map { |lane, work, ns| [lane.name, work, ns] }
    assert_nil lane_recording([process_lanes([["puma srv tp 001", "held", 100, {}]])]).longest_wait
  end

  test "companions with lanes are beside their observation, those without are not" do
    with = ->(text, lanes) { observation(topology: topology(text)).with(lanes:) }
    joined = with.call("1x5", [process_lanes]).with(companions: [with.call("1x3", [process_lanes]), with.call("1x1", nil), with.call("2x1", [])])
    assert_equal %w[1x5 1x3], PumaTuner::Lanes::Comparison.of(joined).recordings.map { |recording| recording.topology.to_s }
    assert_empty PumaTuner::Lanes::Comparison.of(observation).recordings
  end

  test "an observation and a document of lanes are read as they were written, and older files have none" do
    one = observation.with(lanes: [process_lanes])
    text = PumaTuner::Document.dump(one)
    assert_equal one.lanes, PumaTuner::Document.parse(text, "-", [:observation]).lanes
    comparison = lane_comparison
    assert_equal comparison, PumaTuner::Document.parse(PumaTuner::Document.dump(comparison), "-", [:lanes])
    older = JSON.parse(text).except("lanes")
    assert_nil PumaTuner::Document.parse(JSON.generate(older), "-", [:observation]).lanes
  end
end
