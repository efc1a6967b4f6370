# frozen_string_literal: true

require "test_helper"

class FirstResponseTest < TunerTest
  include PumaTuner

  # Answers nothing at first.
  class ColdTraffic
    attr_reader :sent_count

    def initialize(cold_count, socket_errors_count: 0)
      @cold_count = cold_count
      @socket_errors_count = socket_errors_count
      @sent_count = 0
    end

    def send_to(_url, duration_s:)
      raise "a load needs time" unless duration_s.positive?
      @sent_count += 1
      PumaTuner::Load::Outcome.new(generator: "fake", connections_count: 1, duration_ns: 1,
        requests_count: (@sent_count > @cold_count) ? 5 : 0, throughput_per_s: 0.0, mean_ns: nil, p50_ns: nil,
        p90_ns: nil, p99_ns: nil, statuses: {}, unexpected_count: 0, socket_errors_count: @socket_errors_count,
        unknown: [])
    end
  end

  test "the same is sent again until there is a response" do
    traffic = ColdTraffic.new(3)
    assert_equal 5, Load::FirstResponse.of(traffic, "http://127.0.0.1:1", duration_s: 0.1).requests_count
    assert_equal 4, traffic.sent_count
  end

  # A slow app's loads take longer than asked for, as they settle, and are waited for.
  test "an app that answers, but too slowly to count, is sent longer loads, however long they take" do
    slow = Object.new
    def slow.sent_s = @sent_s ||= []

    def slow.send_to(_url, duration_s:)
      sent_s << duration_s
      sleep(0.3)
      latency = PumaTuner::Probe::Histogram.of([900_000_000] * (duration_s * 3).to_i)
      PumaTuner::Load::Outcome.new(generator: "fake", connections_count: 20, duration_ns: 1, requests_count: 20, throughput_per_s: 0.0,
        mean_ns: nil, p50_ns: nil, p90_ns: nil, p99_ns: nil, statuses: {}, unexpected_count: 0, socket_errors_count: 0, unknown: [], latency:)
    end
    assert_equal 1, Load::FirstResponse.of(slow, "http://127.0.0.1:1", duration_s: 0.1, limit_s: 0.5).counted_count
    assert_equal [0.1, 0.2, 0.4], slow.sent_s
  end

  test "a server whose connections break is not waited for" do
    traffic = ColdTraffic.new(3, socket_errors_count: 1)
    assert_equal 0, Load::FirstResponse.of(traffic, "http://127.0.0.1:1", duration_s: 0.1).requests_count
    assert_equal 1, traffic.sent_count
  end
end
