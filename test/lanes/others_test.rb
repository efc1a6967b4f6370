# frozen_string_literal: true

require "test_helper"
require "json"
require "support/lane_fixture"

# Lanes in the formats of other programs, held against what these say of them.
class LanesForOthersTest < TunerTest
  include LaneFixture

  WORDS = PumaTuner::Report::Sections::Lanes::WORDS.transform_values(&:first)

  def comparison = lane_comparison(lane_recording([process_lanes, process_lanes(worker_index: 1, from: 5)]), lane_recording(topology: "1x3"))

  def firefox = @firefox ||= JSON.parse(PumaTuner::Lanes::Firefox.new(comparison, WORDS).to_s)

  def perfetto = @perfetto ||= JSON.parse(PumaTuner::Lanes::Perfetto.new(comparison, WORDS).to_s).fetch("traceEvents")

  # As src/types/profile.js of the Firefox profiler has version 48: tables are columns of one length.
  COLUMNS = {
    "samples" => %w[stack time], "markers" => %w[data name startTime endTime phase category], "stackTable" => %w[frame category subcategory prefix],
    "frameTable" => %w[address inlineDepth category subcategory func nativeSymbol innerWindowID implementation line column],
    "funcTable" => %w[name isJS relevantForJS resource fileName lineNumber columnNumber],
    "resourceTable" => %w[lib name host type], "nativeSymbols" => %w[libIndex address name functionSize]
  }.freeze

  # [table, column] => where its numbers point to
  PLACES = {
    %w[samples stack] => %w[stackTable length], %w[stackTable frame] => %w[frameTable length], %w[frameTable func] => %w[funcTable length],
    %w[funcTable name] => ["stringArray"], %w[markers name] => ["stringArray"]
  }.freeze

  test "the Firefox profiler finds every table whole, and every number points into one" do
    assert_equal 12, firefox["threads"].size
    assert_equal 12, firefox["threads"].map { |thread| thread["tid"] }.uniq.size
    firefox["threads"].each do |thread|
      assert_kind_of String, thread["pid"]
      COLUMNS.each do |table, columns|
        sizes = thread.fetch(table).slice(*columns).values.map(&:size)
        assert_equal [thread[table]["length"]] * columns.size, sizes, table
      end
      PLACES.each do |(table, column), (whole, length)|
        count = length ? thread[whole][length] : thread[whole].size
        assert(thread[table][column].all? { |place| place.between?(0, count - 1) }, [table, column].join("."))
      end
      assert_equal thread["samples"]["time"], thread["samples"]["time"].sort
      categories = thread["markers"]["category"] + thread["stackTable"]["category"]
      assert(categories.all? { |place| firefox["meta"]["categories"][place] })
      assert_empty thread["markers"]["data"].map { |data| data["type"] }.uniq - firefox["meta"]["markerSchema"].map { |schema| schema["name"] }
    end
    assert_equal 48, firefox["meta"]["preprocessedProfileVersion"]
  end

  test "the Firefox profiler's markers are the steps, and its samples what the thread did then" do
    thread = firefox["threads"].first
    strings, markers = thread.values_at("stringArray", "markers")
    told = markers["name"].map { |place| strings[place] }.zip(markers["startTime"], markers["endTime"])
    assert_equal [["cpu", 10.0, 40.0], ["GET /a", 10.0, 100.0], ["db", 40.0, 60.0], ["gvlwait", 60.0, 90.0], ["cpu", 90.0, 100.0]].sort, told.sort
    waits = thread["samples"]["stack"].zip(thread["samples"]["time"]).select { |place, _| strings[thread["funcTable"]["name"][place]] == "gvlwait" }
    assert_equal [60.0, 89.5, 60], [*waits.map(&:last).minmax, waits.size]
    # What began later lies later.
    assert_equal 5.0, firefox["threads"][4]["samples"]["time"].first
  end

  test "in Perfetto each process and thread has its name, and its steps fill its track without a gap" do
    assert_equal ["1x2, pid 100", "1x2, worker 1, pid 101", "1x3, pid 100"], perfetto.select { |event| event["name"] == "process_name" }.map { |event| event.dig("args", "name") }
    names = perfetto.select { |event| event["name"] == "thread_name" && event["pid"] == 1 }.to_h { |event| [event["tid"], event.dig("args", "name")] }
    assert_equal ["puma srv tp 001: requests", "puma srv tp 001", "puma srv tp 002: requests", "puma srv tp 002", "puma reactor", "cable"], names.values
    track = perfetto.select { |event| event["ph"] == "X" && event["pid"] == 1 && names[event["tid"]] == "puma srv tp 001" }
    assert_equal [["idle", 0.0, 10_000.0], ["cpu", 10_000.0, 30_000.0], ["db", 40_000.0, 20_000.0], ["gvlwait", 60_000.0, 30_000.0], ["cpu", 90_000.0, 10_000.0]],
      track.map { |event| event.values_at("name", "ts", "dur") }
  end

  test "in Perfetto no event of a track overlaps the next, and none lies before 0" do
    processes = [process_lanes([["puma srv tp 001", "held", 100, {works: [0, -20, 40, 0, 20, 30]}]])]
    events = JSON.parse(PumaTuner::Lanes::Perfetto.new(lane_comparison(lane_recording(processes)), WORDS).to_s)["traceEvents"]
    [events, perfetto].each do |all|
      all.select { |event| event["ph"] == "X" }.group_by { |event| event.values_at("pid", "tid") }.each_value do |track|
        track.sort_by { |event| event["ts"] }.each_cons(2) { |one, two| assert_operator one["ts"] + one["dur"], :<=, two["ts"] + 0.001 }
      end
    end
    assert_equal [0.0, 20_000.0], events.select { |event| event["cat"] == "request" }.map { |event| event["ts"] }
    assert_equal [20_000.0, 30_000.0], events.select { |event| event["cat"] == "request" }.map { |event| event["dur"] }
  end
end
