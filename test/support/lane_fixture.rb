# frozen_string_literal: true

require "support/builders"

# Lanes made by hand, in milliseconds: two threads of a pool and one beside it, 100 ms long.
module LaneFixture
  include Builders

  # @param steps [Array] kind and milliseconds in turn
  # @param works [Array] place, begin and length in turn
  def lane(name, *steps, works: [], from: 0, short_gc: 0, serves_requests: name.include?(" tp "))
    Probe::Lane.new(name:, serves_requests:, from_ns: from * MS, short_gc_ns: short_gc * MS,
      steps: steps.map { |step| step.is_a?(Numeric) ? (step * MS).round : step }, works: works.map.with_index { |number, i| (i % 3).zero? ? number : (number * MS).round })
  end

  LANES = [
    ["puma srv tp 001", "idle", 10, "held", 30, "db", 20, "gvl_wait", 30, "held", 10, {works: [0, 10, 90]}],
    ["puma srv tp 002", "gvl_wait", 40, "held", 30, "gc", 20, "idle", 10, {works: [1, 0, 90], short_gc: 2}],
    ["puma reactor", "idle", 100, {}],
    ["cable", "idle", 90, "held", 10, {}]
  ].freeze

  def process_lanes(lanes = LANES, worker_index: nil, from: 0)
    lanes = lanes.map { |name, *steps, more| lane(name, *steps, **more) }
    Probe::ProcessLanes.new(worker_index:, pid: 100 + worker_index.to_i, from_ns: from * MS, duration_ns: 100 * MS, full: false,
      works: ["GET /a", "GET /<b>"], lanes:)
  end

  def lane_recording(processes = [process_lanes], topology: "1x2")
    PumaTuner::Lanes::Recording.new(recorded_at: "2026-01-01T00:00:00Z", command: "bundle exec puma", topology: topology && topology(topology), processes:)
  end

  def lane_comparison(*recordings) = PumaTuner::Lanes::Comparison.new(recordings: recordings.empty? ? [lane_recording] : recordings)
end
