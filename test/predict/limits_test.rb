# frozen_string_literal: true

require "test_helper"
require "support/builders"

class LimitsTest < TunerTest
  include Builders

  def calibrated(ruby_version: "3.4.5", puma_version: "8.0.2")
    machine.with(calibrated: Model::Calibrated.new(calibrated_at: "2026-01-01T00:00:00Z", machine_key: "m", ruby_version:, puma_version:, round_trip_ns: 1))
  end

  test "a machine that was not calibrated is said to be typical" do
    assert_equal ["not calibrated: the machine's part is typical figures; run `puma_tuner calibrate` on that machine"], Predict::Limits.of(workload, machine)
    assert_empty Predict::Limits.of(workload, calibrated)
  end

  test "other versions than were calibrated are told, patch releases are not" do
    assert_empty Predict::Limits.of(workload, calibrated(ruby_version: "3.4.1", puma_version: "8.0.0"))
    assert_match(/calibrated with Ruby 3.3.8, forecast for 3.4.5; Puma 7.2.0, forecast for 8.0.2/,
      Predict::Limits.of(workload, calibrated(ruby_version: "3.3.8", puma_version: "7.2.0")).first)
  end

  test "a Ruby whose GVL was seen to go by another rule than its version's is said to be patched" do
    assert_empty Predict::Limits.of(workload, calibrated.with(gvl_rule: "fifo"))
    assert_match(/\Athis Ruby has the hot-thread patch.*Ruby 3\.4\.5 hands over the GVL by the rule "fifo".*by "hot", which is simulated\z/,
      Predict::Limits.of(workload, calibrated.with(gvl_rule: "hot")).first)
    assert_match(/\Athis Ruby is patched: Ruby 4\.1\.0/, Predict::Limits.of(workload(ruby_version: "4.1.0"), calibrated(ruby_version: "4.1.0").with(gvl_rule: "fifo")).first)
  end

  test "another Ruby than was calibrated can be" do
    assert_match(/puma_tuner calibrate --ruby/, Predict::Limits.of(workload, calibrated(ruby_version: "3.3.8")).first)
    refute_match(/--ruby/, Predict::Limits.of(workload, calibrated(puma_version: "7.2.0")).first)
  end

  test "what the model does not know is told as far as a forecast is made of it" do
    unknown = {"arrivals" => "not ours", "memory.shared_bytes" => "no master", "endpoint GET /rare" => "left out", "observed_p50_ns" => "the client's"}
    assert_equal ["arrivals: not ours", "endpoint GET /rare: left out"], Predict::Limits.of(workload.with(unknown:), calibrated)
  end
end
