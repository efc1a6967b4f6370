# frozen_string_literal: true

require "test_helper"
require "support/builders"

class TextMachineTest < TunerTest
  include Builders

  SAMPLES = PumaTuner::Report::Sections::Machine::SAMPLES
  Calibrate = PumaTuner::Calibrate

  def calibrated(**others)
    machine(cores_count: 2, effective_cores: [1.0, 1.9512, 1.94, 1.93], handoff_ns: 8_100, client_cpu_ns: 17_000).with(
      tick_ns: 10_072_000, wakeup_idle_ns: [40_000, 50_000, 60_000], wakeup_loaded_ns: [50_000, 70_000, 5_000_000], acceptor_cpu_ns: 35_000,
      reactor_wakeup_cpu_ns: 24_000, reactor_register_cpu_ns: 9_000, tail_cpu_ns: 18_000, switch_idle_cpu_ns: 21_000, switch_busy_cpu_ns: 9_000, gvl_rule: "fifo",
      meeting_ratio: 0.5, calibrated: calibration, **others
    )
  end

  def calibration(**others)
    costs = [[16, 5_000, 14_000, 5_200], [256, 8_000, 21_000, 9_000], [4_096, nil, 40_000, 60_000]]
    Model::Calibrated.new(calibrated_at: "2026-01-01T00:00:00Z", machine_key: "test, 2 cores, Linux, Ruby 3.4.5, Puma 8.0.2",
      ruby_version: "3.4.5", puma_version: "8.0.2", round_trip_ns: 31_000,
      switch_costs: costs.map { |kib, same_core_ns, idle_ns, busy_ns| Model::SwitchCost.new(working_set_bytes: kib * 1_024, same_core_ns:, idle_ns:, busy_ns:) }, **others)
  end

  def text(machine) = PumaTuner::Report.render(machine, format: :text)

  test "every figure has its range or what it rests on, and its meaning" do
    assert_equal <<~TEXT, text(calibrated)
      Machine: what its cores, Ruby's threads and Puma itself cost
        test, 2 cores, Linux, Ruby 3.4.5, Puma 8.0.2; measured at 2026-01-01T00:00:00Z.

                            median  rests on            what it is
        tick               10.1 ms  8 samples           ten of them make a thread's time slice
        GVL                   fifo  0.5 s               first come, first served
        hand-over          8.10 µs  21 runs             of the GVL, from one thread to the next
        the same, busy     8.10 µs  21 runs             with a busy process on all other cores
        switch             21.0 µs  1.5 s               CPU a burst takes more after another thread's
        the same, busy     9.00 µs  1.5 s               with a busy process on all other cores
        waking up, idle    50.0 µs  40.0 µs to 60.0 µs  how late a sleeping thread gets a core
        waking up, busy    70.0 µs  50.0 µs to 5.00 ms  the same of one that computes, among others
        sharing a core       50.0%  2 windows           how often threads of two workers do, over chance
        acceptor           35.0 µs  5 turns             Puma's CPU for each new connection
        reactor, reads     24.0 µs  5 turns             Puma's CPU for a request that comes through it
        reactor, takes in  9.00 µs  5 turns             Puma's CPU for giving the connection back to it
        tail               18.0 µs  1 window            CPU of a pool thread, outside recorded requests
        client             17.0 µs  5 turns             the load generator's CPU for each request
        round trip         31.0 µs  5 turns             of a request to an app that does nothing

        each burst touches    16 KiB  256 KiB  4096 KiB
        switch, on one core  5.00 µs  8.00 µs   unknown
        switch, others idle  14.0 µs  21.0 µs   40.0 µs
        switch, others busy  5.20 µs  9.00 µs   60.0 µs

        busy processes           1     2     3     4
        cores' worth of work  1.00  1.95  1.94  1.93
        Work: of 7 rounds, by CPU time, one of the best. How each is measured:
        docs/internals/calibration.md.
    TEXT
  end

  test "the numbers of samples are the calibration's own" do
    assert_equal SAMPLES, {
      tick: "#{Calibrate::Tick::SAMPLES_COUNT} samples", handoff: "#{Calibrate::Handoff::RUNS_COUNT} runs",
      rule: "#{Calibrate::GvlRule::DURATION_S} s", switch: "#{Calibrate::SwitchCpu::DURATION_S} s",
      cores: "#{Calibrate::EffectiveCores::ROUNDS_COUNT} rounds", puma: "#{Calibrate::PumaCpu::TURNS_COUNT} turns",
      client: "#{Calibrate::Client::TURNS_COUNT} turns", tail: "1 window", meetings: "2 windows"
    }
  end

  test "a quota is told, and of many cores some" do
    shown = text(calibrated(quota_ns: 150 * MS, period_ns: 100 * MS, effective_cores: (1..66).map(&:to_f)))
    assert_match(/A quota of 150 ms in each 100 ms/, shown)
    assert_match(/busy processes +1 +8 .* 66$/, shown)
  end

  test "where one core alone can be busy, nobody has measured how often two workers share one" do
    assert_match(/^  sharing a core +50\.0%  2 windows/, text(calibrated(quota_ns: 200 * MS, period_ns: 100 * MS)))
    [{cores_count: 1}, {quota_ns: 150 * MS, period_ns: 100 * MS}].each do |one_core|
      assert_match(/^  sharing a core +50\.0%  typical/, text(calibrated(**one_core)))
    end
  end

  test "what an older calibration did not measure is not shown, or as typical" do
    shown = text(calibrated(gvl_rule: nil, switch_idle_cpu_ns: 0, switch_busy_cpu_ns: 0, calibrated: calibration(switch_costs: [])))
    assert_match(/^  tick +10\.1 ms  8 samples/, shown)
    refute_match(/^  (GVL|switch|each burst)/, shown)
    assert_match(/^  sharing a core +50\.0%  typical/, text(calibrated(meeting_ratio: nil)))
  end

  test "typical figures are called so" do
    shown = text(calibrated.with(calibrated: nil))
    assert_match(/Typical figures, not measured here: puma_tuner calibrate/, shown)
    assert_match(/^  tick +10\.1 ms  typical/, shown)
    refute_match(/round trip|samples|rounds/, shown)
  end
end
