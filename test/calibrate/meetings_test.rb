# frozen_string_literal: true

require "test_helper"

class MeetingsTest < TunerTest
  MS = PumaTuner::Units::NS_PER_MS
  Meetings = PumaTuner::Calibrate::Meetings

  test "a process wants a core from when the first of its threads was to wake up until none has anything left to do" do
    turns = [[0, 2], [1, 4], [3, 5], [10, 12], [12, 13], [20, 20.5]].shuffle(random: Random.new(1))
      .map { |due_ms, over_ms| [(due_ms * MS).to_i, (over_ms * MS).to_i, 0] }
    assert_equal [(8.5 * MS).to_i, 3], Meetings.wanted(turns)
    assert_equal [0, 0], Meetings.wanted([])
  end

  test "what a process lacks beside others, and not alone, is held against what chance would give" do
    told = ->(without_ms) { Meetings::Told.new(wanted_ns: (1_000 + 100 * without_ms) * MS, had_ns: 1_000 * MS, begun_count: 100) }
    assert_in_delta 0.3 * MS, Meetings.excess_ns([told[0.2]], [told[0.4], told[0.6]]), 1
    assert_equal 0, Meetings.excess_ns([told[0.2]], [told[0.1], told[0.1]])
    # Another process computes for 1 of 2 s, so that half a core of two is busy: a quarter of all wake-ups meet it, and wait for 1 ms.
    assert_in_delta 0.25 * MS, Meetings.by_chance_ns([told[0], told[0]], 2, 2.0), 1
  end

  test "it is between never and as often as by chance on any machine" do
    assert_includes 0.0..1.0, Meetings.ratio(2, cores_count: 2, duration_s: 0.4)
  end
end
