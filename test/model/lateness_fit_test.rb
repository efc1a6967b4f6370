# frozen_string_literal: true

require "test_helper"
require "support/builders"

# Recordings of an app whose wait is known: 5 ms, of which nobody is late at one thread.
class LatenessFitTest < TunerTest
  include Builders

  # @param wait_ms [Numeric] as it was recorded
  # @param late_ms [Numeric] of it, by the kernel's count
  def recording(text, wait_ms, late_ms:)
    endpoints = [endpoint_observation(requests_count: 100, traces: [trace("held", 1, "io", wait_ms, "gvl_wait", 1, "held", 1), trace("held", 1, "io", wait_ms, "held", 1)])]
    thread = Probe::ThreadObservation.new(worker_index: nil, name: "puma srv tp 001", requests_count: 100, run_queue_wait_ns: ((100 * late_ms) + 20) * MS,
      budget: Probe::Budget.zero.with(preempted_ns: 20 * MS))
    observation(endpoints:, topology: topology(text)).with(threads: [thread])
  end

  def lateness(*recordings, of: recordings.first) = Model::LatenessFit.new(recordings).of(of)

  def late_ms(...) = lateness(...).late_ns / MS

  test "of a single recording it is what the kernel counts, less what was with the GVL" do
    assert_in_delta 2, late_ms(recording("2x5", 7, late_ms: 2)), 1e-9
  end

  test "beside a recording at one thread it is what waits take longer than there" do
    assert_in_delta 1, late_ms(recording("2x5", 6, late_ms: 2), recording("1x1", 5, late_ms: 0)), 1e-9
    assert_in_delta 1.1, late_ms(recording("2x5", 6, late_ms: 2), recording("1x1", 5, late_ms: 0.1)), 1e-9
  end

  test "it is never more than the kernel counts, and where waits are shorter than at one thread it is nothing" do
    alone = recording("1x1", 5, late_ms: 0)
    assert_in_delta 2, late_ms(recording("2x5", 9, late_ms: 2), alone), 1e-9
    assert_in_delta 0, late_ms(recording("2x5", 4, late_ms: 2), alone), 1e-9
  end

  test "at one thread itself it is the kernel's count" do
    alone = recording("2x1", 5.5, late_ms: 0.5)
    assert_in_delta 0.5, late_ms(recording("2x5", 6, late_ms: 2), alone, of: alone), 1e-9
  end

  # @param waits_ms [Array<Numeric>] of a request
  # @param late_ms [Numeric] of all of them together
  def of_waits(waits_ms, late_ms:, more: [])
    traces = [trace("held", 1, *waits_ms.flat_map { |ms| ["io", ms, "held", 0.1] }, *more)]
    recording("2x5", 1, late_ms:).with(endpoints: [endpoint_observation(requests_count: 100, traces:)])
  end

  test "waits that are shorter than what they were late on average leave the rest to the others, so that the sum is right" do
    assert_in_delta 1.8, late_ms(of_waits([0.1, 0.1, 5, 7], late_ms: 3.8)), 1e-9
    assert_in_delta 4.7, late_ms(of_waits([0.1, 0.2, 5], late_ms: 5)), 1e-9
    assert_in_delta 5, late_ms(of_waits([0.1, 0.2, 5], late_ms: 9)), 1e-9, "all of it"
    assert_in_delta 1.9, late_ms(of_waits([0.1, 5], late_ms: 2, more: ["compute", 9])), 1e-9, "what computes has its core"
  end

  # @param ms [Array<Numeric>] of the lateness' recording
  # @return [Array<Float>] what they would have taken by themselves
  def own_ms(lateness, ms) = ms.map { |wait_ms| lateness.own_ns("io", (wait_ms * MS).round).fdiv(MS).round(6) }

  # At one thread a request reads for 2 µs four times, and waits once.
  test "no greater share of waits has slept than at one thread; the others were calls, as short as there, as far as the kernel counts it" do
    alone = of_waits([0.002, 0.002, 0.002, 0.002, 5], late_ms: 0).with(topology: topology("1x1"))
    waits_ms = [0.03, 0.4, 0.001, 0.2, 6]
    # Those too short to sleep in are as short in any case.
    {
      2 => [0.002333, 0.002333, 0.001, 0.002333, 5], 0.3 => [0.003, 0.15, 0.001, 0.15, 6], 0 => [0.003, 0.4, 0.001, 0.2, 6]
    }.each do |late_ms, expected_ms|
      lateness = lateness(of_waits(waits_ms, late_ms:), alone)
      assert_equal expected_ms, own_ms(lateness, waits_ms), late_ms.to_s
      assert_equal [true, false, false], [lateness.call?("io", MS), lateness.call?("lock", MS), lateness.call?("io", 6 * MS)]
    end
  end

  test "where nothing sleeps at one thread, all waits for IO were calls" do
    alone = of_waits([0.002, 0.004], late_ms: 0).with(topology: topology("1x1"))
    assert_equal [0.0035, 0.0035, 0.002], own_ms(lateness(of_waits([3, 0.1, 0.002], late_ms: 4), alone), [3, 0.1, 0.002])
  end

  test "requests that wait more often than those at one thread have slept as often" do
    alone = of_waits([4.5, 0.002], late_ms: 0).with(topology: topology("1x1"))
    waits_ms = [5, 4, 0.002, 0.002]
    assert_equal waits_ms, own_ms(lateness(of_waits(waits_ms, late_ms: 3), alone), waits_ms)
  end

  # It answers within 40 µs there, and takes 0.3 ms under load, of which the kernel explains some or all.
  test "a service that is slower at several threads was slept in, as far as the kernel does not explain it" do
    alone = of_waits([0.04, 0.04], late_ms: 0).with(topology: topology("1x1"))
    slept_ms = ->(late_ms) { lateness(of_waits([0.3, 0.3], late_ms:), alone).slept_ns("db", (0.3 * MS).round).fdiv(MS).round(6) }
    assert_equal [0.3, 0.25, 0], [0, 0.1, 0.52].map(&slept_ms)
  end

  test "nothing is late where nobody counted, or nothing waits" do
    one = recording("2x5", 7, late_ms: 2)
    uncounted = one.with(threads: one.threads.map { |thread| thread.with(run_queue_wait_ns: nil) })
    assert_in_delta 0, late_ms(uncounted), 1e-9
    busy = one.with(endpoints: one.endpoints.map { |endpoint| endpoint.with(traces: [trace("held", 1)]) })
    assert_in_delta 0, late_ms(busy, recording("1x1", 5, late_ms: 0)), 1e-9
  end
end
