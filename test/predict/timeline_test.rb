# frozen_string_literal: true

require "test_helper"

class TimelineTest < TunerTest
  # Writes down when its burst ended.
  Task = Struct.new(:timeline, :log, :name) do
    def burst_ended = log << [timeline.now_ns, name]
  end

  def setup
    @timeline = PumaTuner::Predict::Timeline.new(1.0)
    @log = []
  end

  def event(name) = -> { @log << [@timeline.now_ns, name] }

  test "events and ends of bursts come in the order of time, and move it" do
    @timeline.after(50, event("event"))
    @timeline.compute(Task.new(@timeline, @log, "burst"), 30)
    @timeline.after(10, event("early"))
    assert_equal 10, @timeline.due_ns
    3.times { @timeline.step }
    assert_equal [[10, "early"], [30, "burst"], [50, "event"]], @log
  end

  test "a burst that ends just when an event happens has ended" do
    @timeline.after(30, event("event"))
    @timeline.compute(Task.new(@timeline, @log, "burst"), 30)
    2.times { @timeline.step }
    assert_equal %w[burst event], @log.map(&:last)
  end

  test "delays count from now" do
    @timeline.after(10, -> { @timeline.after(5, event("later")) })
    2.times { @timeline.step }
    assert_equal [[15, "later"]], @log
  end
end
