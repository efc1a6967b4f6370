# frozen_string_literal: true

require "test_helper"

class TopSessionTest < TunerTest
  Session = PumaTuner::Top::Session

  MS = 1_000_000

  test "looks that take long are taken less often, so that they take half a hundredth of a core" do
    used = ->(ms) { Array.new(Session::LOOKS_COUNT + 1) { |look| look * ms * MS } }
    assert_equal 2, Session.pause_s(used.call(10), 2)
    assert_equal 4, Session.pause_s(used.call(20), 2)
    assert_equal 3, Session.pause_s([0, 900 * MS, 915 * MS, 930 * MS, 990 * MS, 1_005 * MS], 0.5), "the median counts"
  end

  test "the first looks are as often as is wanted, as they load what they need" do
    assert_equal 2, Session.pause_s([0, 500 * MS, 900 * MS], 2)
    assert_equal 2, Session.pause_s([], 2)
  end

  test "a forecast that took longer is made less often, and one that took little as soon as may be" do
    assert_in_delta 30, PumaTuner::ServerForecast.rest_s(0.2, 10.0), 1e-6
    assert_equal 0, PumaTuner::ServerForecast.rest_s(0.04, 10.0)
    [0.04, 0.2, 2.0, 20.0].each do |cpu_s|
      period_s = 10.0 + PumaTuner::ServerForecast.rest_s(cpu_s, 10.0)
      assert_operator cpu_s / period_s, :<=, Session::MOST_RATIO + 1e-9, "however dear: #{cpu_s} s"
    end
  end
end
