# frozen_string_literal: true

require "test_helper"

class RequestStartTest < TunerTest
  RequestStart = PumaTuner::Probe::RequestStart
  Client = Struct.new(:env, :puma_tuner_queued_ns)

  INSTANT_NS = 1_700_000_000_123_000_000

  def before_ns(header, env: {}, queued_ns: nil) = RequestStart.before_ns(header, Client.new(env, queued_ns))

  def now_s(ago_s) = format("t=%.6f", Process.clock_gettime(Process::CLOCK_REALTIME) - ago_s)

  test "seconds, milliseconds, microseconds and nanoseconds are understood, with and without t=" do
    ["t=1700000000.123", "1700000000123", "t=1700000000123000", "1700000000123000000", "t=1700000000123.000"].each do |header|
      assert_equal INSTANT_NS, RequestStart.instant_ns(header), header
    end
  end

  test "a value that is not a time is ignored" do
    ["", "yes", "t=", "12", "t=17000000000000000000000"].each { |header| assert_nil RequestStart.instant_ns(header), header }
  end

  test "a header that is longer than any time costs no time, as anybody may send it" do
    [
      "1" * 80_000 + "x", "#{"1" * 40_000}.#{"1" * 40_000}x", " " * 80_000 + "x", "#{"x" * 51}1700000000.123"
    ].each { |header| assert_nil RequestStart.instant_ns(header) }
    assert Regexp.linear_time?(RequestStart::TIME)
    assert_equal INSTANT_NS, RequestStart.instant_ns("#{"x" * 50}1700000000.123")
  end

  test "a proxy's clock ahead of ours is no time travel, and one that is hours behind is wrong" do
    assert_equal 0, before_ns(now_s(-5))
    assert_nil before_ns(now_s(7_200))
  end

  test "the time in Puma's list and the client's time to send the body are taken out" do
    began_s = monotonic_s
    queued_ns = PumaTuner::Probe::GvlClock.now_ns - 200_000_000
    before_s = before_ns(now_s(0.8), env: {"puma.request_body_wait" => 100.0}, queued_ns:) / 1e9
    # But for the time between the readings of two clocks, and the header's digits.
    assert_in_delta 0.5, before_s, monotonic_s - began_s + 0.001
  end
end
