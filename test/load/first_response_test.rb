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

  test "a server whose connections break is not waited for" do
    traffic = ColdTraffic.new(3, socket_errors_count: 1)
    assert_equal 0, Load::FirstResponse.of(traffic, "http://127.0.0.1:1", duration_s: 0.1).requests_count
    assert_equal 1, traffic.sent_count
  end
end
