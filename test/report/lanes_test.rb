# frozen_string_literal: true

require "test_helper"
require "json"
require "support/lane_fixture"

class LanesReportTest < TunerTest
  include LaneFixture

  Chart = PumaTuner::Report::Html::LaneChart

  def chart_of(*lanes) = process_lanes(lanes).then { |process| Chart.new(lane_recording([process]), process) }

  def render(value = lane_comparison, format = :text, **options) = PumaTuner::Report.render(value, format:, **options)

  test "what is told first is for how long threads could run and did nothing, at each setting" do
    idle = lane_recording([process_lanes([["puma srv tp 001", "idle", 100, {}]])], topology: "1x1")
    text = render(lane_comparison(lane_recording, lane_recording(topology: "1x3"), idle)).gsub(/\s+/, " ")
    assert_match(/Threads could run and did nothing for 38.9% of their time at 1x2, 38.9% at 1x3/, text)
    assert_match(%r{The longest such wait: 40.0 ms of puma srv tp 002 \(GET /<b>\), while the GVL was held by puma srv tp 001 \(GET /a\) for 30.0 ms and for 10.0 ms by nobody yet\.}, text)
    assert_match(/No pool thread had anything to do/, text)
  end

  test "each thread's shares sum to all of its time, garbage collection in short stretches among them" do
    rows = render.scan(/^ *(puma srv tp \d+|puma reactor|cable)((?: +[\d.-]+)+)$/).to_h { |name, text| [name, text.split.map(&:to_f)] }
    assert_equal 4, rows.size
    # requests, cpu, gc, gvlwait, db, idle, longest
    assert_equal [1.0, 28.0, 22.0, 40.0, 0.0, 10.0, 40.0], rows.fetch("puma srv tp 002")
    assert_equal [1.0, 40.0, 0.0, 30.0, 20.0, 10.0, 30.0], rows.fetch("puma srv tp 001")
    rows.each_value { |row| assert_in_delta 100, row[1..5].sum, 0.3 }
  end

  test "an observation's report has its lanes, and one without has none" do
    with = render(observation.with(lanes: [process_lanes]), :html)
    assert with.include?('class="lanes"') && with.include?(".lane-gvl_wait"), "no lanes"
    without = render(observation, :html)
    refute without.include?('class="lanes"') || without.include?(".lane-gvl_wait"), "there are lanes"
    assert_match(/Threads over time/, render(observation.with(lanes: [process_lanes]), :text))
  end

  test "where lanes were asked for and there are none, that is said" do
    assert_match(/Nothing was recorded of what each thread did when/, render(observation.with(lanes: []), :text))
    refute_match(/Nothing was recorded of what each thread did/, render(observation, :text))
  end

  test "the page does not carry the steps twice" do
    steps = '"steps":["idle"'
    [observation.with(lanes: [process_lanes]), lane_comparison].each do |document|
      assert_includes PumaTuner::Document.dump(document), steps
      refute render(document, :html).include?(steps), "they are in the document, too"
    end
  end

  test "names of endpoints and threads can't become markup" do
    lanes = [["<i>puma</i> tp 1", "held", 50, "gvl_wait", 50, {works: [1, 0, 100]}], ["<b>other</b>", "gvl_wait", 50, "held", 50, {}]]
    page = render(lane_comparison(lane_recording([process_lanes(lanes)])), :html)
    assert_nil page[%r{.{0,40}(?:<i>puma|<b>other|GET /<b>)}]
  end

  test "the picture's boxes are as wide as what they show, and stacked where they are narrower than a column" do
    chart = chart_of(["puma srv tp 001", "held", 50, "gvl_wait", 25, "db", 25, {}])
    assert_equal({"held" => "M0 0.0h250v24.0h-250z", "gvl_wait" => "M250 0.0h125v24.0h-125z", "db" => "M375 0.0h125v24.0h-125z"}, chart.paths(chart.lanes.first))
    thirds = chart_of(["puma srv tp 001", *["held", 0.05, "gvl_wait", 0.15] * 500, {}])
    assert_equal({"held" => "M0 18.0h500v6.0h-500z", "gvl_wait" => "M0 0.0h500v18.0h-500z"}, thirds.paths(thirds.lanes.first))
  end

  test "what is seen at first is the stretch around the longest wait" do
    lanes = [["puma srv tp 001", "held", 700, "gvl_wait", 100, "held", 200, {}]]
    process = process_lanes(lanes).with(duration_ns: 1_000 * MS)
    assert_equal 650 * MS..850 * MS, Chart.new(lane_recording([process]), process).stretch
    late = process_lanes([["puma srv tp 001", "held", 950, "gvl_wait", 50, {}]]).with(duration_ns: 1_000 * MS)
    assert_equal 800 * MS..1_000 * MS, Chart.new(lane_recording([late]), late).stretch
  end

  test "what is packed for the script is whole: no rounding adds up" do
    lanes = [["puma srv tp 001", *["held", 0.0004, "gvl_wait", 0.0003] * 10_000, {}]]
    process = process_lanes(lanes)
    steps = JSON.parse(Chart.new(lane_recording([process]), process).packed).dig(3, 0, 2)
    assert_equal 7_000, steps.each_slice(2).sum(&:last)
  end

  test "threads that did nothing are no lanes of the picture, but for the pool's" do
    assert_equal ["puma srv tp 001", "puma srv tp 002", "cable"], chart_of(*LaneFixture::LANES).lanes.map(&:name)
  end

  test "of many workers those that served most are drawn, and all are told in figures" do
    processes = Array.new(6) { |index| process_lanes([["puma srv tp 001", "held", 100, {works: [0, 0, 10] * (index + 1)}]], worker_index: index) }
    page = render(lane_comparison(lane_recording(processes, topology: "6x1")), :html)
    assert_equal 4, page.scan('class="lanes"').size
    assert_equal 6, page.scan("Percent of the time that was recorded").size
    assert page.include?("Drawn are the 4 processes that served most."), "not said"
  end
end
