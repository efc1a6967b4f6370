# frozen_string_literal: true

require "test_helper"

class ClockTest < TunerTest
  Clock = PumaTuner::Clock

  test "CPU of a process grows with what it computes, and not while it sleeps" do
    before_ns = Clock.cpu_ns
    nil until Clock.cpu_ns - before_ns > 1_000_000
    computed_ns, began_ns = Clock.cpu_ns, Clock.now_ns
    sleep(0.1)
    assert_operator Clock.cpu_ns - computed_ns, :<, Clock.now_ns - began_ns
  end
end
