# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require_relative "../../benchmark/scale"

class ScaleTest < TunerTest
  time_limit 300

  ENDPOINTS_COUNT = 200
  REQUESTS_COUNT = 1_000_000

  # A trace of a request that went to the database some twenty times.
  STEPS = (["held", 1_234_567, "db", 2_345_678, "gvl_wait", 345_678] * 20).freeze

  # @param endpoints_count [Integer]
  # @param traces_count [Integer] of all endpoints together
  # @return [PumaTuner::Probe::Observation] with as many distributions as there are, and as many processes as there are workers
  def recording(endpoints_count: ENDPOINTS_COUNT, traces_count: PumaTuner::Probe::Account::TRACES_MAX, workers_count: 64)
    trace = PumaTuner::Probe::Trace.new(steps: STEPS, wall_ns: STEPS.grep(Integer).sum, queue_ns: 1, cpu_ns: 24_000_000, gc_ns: 0)
    first = TuningFixture.observation.endpoints.first
    histogram = PumaTuner::Probe::Histogram.new(zero_count: 0, counts: (300..400).map { |bucket| [bucket, 50] })
    endpoints = Array.new(endpoints_count) do |number|
      first.with(name: "GET /accounts/:account_id/things/#{number}/:id", requests_count: REQUESTS_COUNT / endpoints_count, traces: [trace] * (traces_count / endpoints_count), latency: histogram,
        distributions: PumaTuner::Probe::Parts::DISTRIBUTIONS.drop(1).map { |part| PumaTuner::Probe::Distribution.new(part: part.to_s, histogram:) })
    end
    processes = Array.new(workers_count) { |index| TuningFixture.observation.processes.first.with(role: "worker", worker_index: index, pid: 1_000 + index) }
    TuningFixture.observation.with(endpoints:, processes:, topology: PumaTuner::Topology.from(workers_count, 5))
  end

  def bytes(value) = PumaTuner::Report.render(value, format: :html).bytesize

  test "the report of a million requests, 200 endpoints and 64 workers stays under 5 MB, alone and in a whole tuning" do
    observation = recording
    assert_equal REQUESTS_COUNT, observation.requests_count
    tuning = TuningFixture.tuning(observation:, sweep: TuningFixture.wide_sweep(workers: 1..8, threads: 1..8))
    assert_operator bytes(observation), :<, Scale::REPORT_BYTES_MAX / 2
    assert_operator bytes(tuning), :<, Scale::REPORT_BYTES_MAX
  end

  test "a report grows no faster than its endpoints and workers, and not at all with the requests that were recorded" do
    few, many = [20, 200].map { |endpoints_count| bytes(recording(endpoints_count:, traces_count: 2_000, workers_count: 4)) }
    assert_operator many.fdiv(few), :<, 10
    assert_in_delta many, bytes(recording(traces_count: 16_000, workers_count: 4)), many * 0.01
    assert_operator bytes(recording(traces_count: 2_000)).fdiv(many), :<, 2, "64 workers instead of 4"
  end

  test "a recording with as many traces as there may be can be read and written, and is no larger than they make it" do
    text = PumaTuner::Document.dump(recording)
    assert_operator text.bytesize, :<, PumaTuner::Probe::Account::TRACES_MAX * STEPS.join(",").bytesize * 1.5
    assert_equal text, PumaTuner::Document.dump(PumaTuner::Document.parse(text, "it", [:observation]))
  end

  def measured(size, factor = 1) = Scale::Measured.new(size:, seconds: {"read it" => 0.5 * factor, "open the report" => 1.0}, bytes: {"report" => 100_000 * factor})

  def page(*all) = Scale::Page.new(machine: PumaTuner::Probe::MachineFacts.read, measured: all, quick: false)

  test "the page tells what ten times as many make of each figure" do
    whole = Scale::WHOLE
    text = page(measured(whole.with(endpoints_count: 20)), measured(whole.with(workers_count: 6), 2), measured(whole, 4)).to_s
    assert_match(/\| +1,000,000 requests, 200 endpoints, 64 workers \| 10 times the endpoints \| 10 times the workers \|/, text)
    assert_match(/^\| report +\| +0\.4 MiB \| +4\.0x \| +2\.0x \|$/, text)
    assert_match(/^\| read it +\| +2\.0 s \| +4\.0x \| +2\.0x \|$/, text)
  end

  test "a report that is too large or opens too late misses its target, and one that nobody could open shows nothing" do
    fine = measured(Scale::WHOLE)
    assert_equal %i[met met], page(fine, fine).outcomes
    assert_equal :missed, page(fine, fine.with(bytes: {"report" => 6 << 20})).outcomes.first
    assert_equal %i[missed not_shown], [2.1, nil].map { |s| page(fine, fine.with(seconds: {"open the report" => s})).outcomes.last }
  end

  test "a small one is recorded, read, modelled and shown" do
    found = Scale::Trial.new(Scale::Size.new(400, 3, 2)).run
    assert_equal ["ledgers, in memory", "recording", "report"], found.bytes.keys
    assert(found.bytes.values.all? { |bytes| bytes > 1_000 })
    assert_equal "open the report", found.seconds.keys.last
  end
end
