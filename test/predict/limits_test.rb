# frozen_string_literal: true

require "test_helper"
require "support/builders"

class LimitsTest < TunerTest
  include Builders

  def calibrated(ruby_version: "3.4.5", puma_version: "8.0.2")
    machine(meeting_ratio: 0.8).with(calibrated: Model::Calibrated.new(calibrated_at: "2026-01-01T00:00:00Z", machine_key: "m", ruby_version:, puma_version:, round_trip_ns: 1))
  end

  def told(*) = Report::Unknowns.of(Predict::Limits.of(*)).values.first

  test "a machine that was not calibrated is said to be typical" do
    assert_equal [Unknown.of(:machine, :not_calibrated)], Predict::Limits.of(workload, machine)
    assert_empty Predict::Limits.of(workload, calibrated)
  end

  test "a calibration of before shared cores were measured says what stands in, where there are two cores" do
    older = calibrated.with(meeting_ratio: nil)
    assert_match(/\Acalibrated before it was measured how often .* share a core: 50\.0% is assumed; run `puma_tuner calibrate`/, told(workload, older))
    assert_empty Predict::Limits.of(workload, older.with(cores_count: 1))
    assert_equal [Unknown.of(:machine, :not_calibrated)], Predict::Limits.of(workload, older.with(calibrated: nil))
  end

  test "other versions than were calibrated are told, patch releases are not" do
    assert_empty Predict::Limits.of(workload, calibrated(ruby_version: "3.4.1", puma_version: "8.0.0"))
    assert_match(/calibrated with Ruby 3.3.8, forecast for 3.4.5; Puma 7.2.0, forecast for 8.0.2/,
      told(workload, calibrated(ruby_version: "3.3.8", puma_version: "7.2.0")))
  end

  test "a Ruby whose GVL was seen to go by another rule than its version's is said to be patched" do
    assert_empty Predict::Limits.of(workload, calibrated.with(gvl_rule: "fifo"))
    assert_match(/\Athis Ruby has the hot-thread patch.*Ruby 3\.4\.5 hands over the GVL by the rule "fifo".*by "hot", which is simulated\z/,
      told(workload, calibrated.with(gvl_rule: "hot")))
    assert_match(/\Athis Ruby is patched: Ruby 4\.1\.0/, told(workload(ruby_version: "4.1.0"), calibrated(ruby_version: "4.1.0").with(gvl_rule: "fifo")))
  end

  test "another Ruby than was calibrated can be" do
    assert_match(/puma_tuner calibrate --ruby/, told(workload, calibrated(ruby_version: "3.3.8")))
    refute_match(/--ruby/, told(workload, calibrated(puma_version: "7.2.0")))
  end

  test "what the model does not know is told as far as a forecast is made of it" do
    rare = Unknown.of(:endpoint, :no_trace, whose: "GET /rare", requests_count: 3)
    unknown = [Unknown.of(:arrivals, :load_not_ours), Unknown.of(:shared_bytes, :no_rss), rare, Unknown.of(:observed_p50_ns, :no_client)]
    assert_equal [unknown.first, rare], Predict::Limits.of(workload.with(unknown:), calibrated)
  end
end
