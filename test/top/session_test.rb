# frozen_string_literal: true

require "test_helper"

class TopSessionTest < TunerTest
  Session = PumaTuner::Top::Session

  MS = 1_000_000

  test "looks that take long are taken less often, so that they take a hundredth of a core at most" do
    used = ->(ms) { Array.new(Session::LOOKS_COUNT + 1) { |look| look * ms * MS } }
    assert_equal 2, Session.pause_s(used.call(10), 2)
    assert_equal 4, Session.pause_s(used.call(40), 2)
    assert_equal 1.5, Session.pause_s([0, 900 * MS, 915 * MS, 930 * MS, 990 * MS, 1_005 * MS], 0.5), "the cheapest counts"
  end

  test "the first looks are as often as is wanted, as they load what they need" do
    assert_equal 2, Session.pause_s([0, 500 * MS, 900 * MS], 2)
    assert_equal 2, Session.pause_s([], 2)
  end
end
