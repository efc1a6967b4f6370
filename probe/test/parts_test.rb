# frozen_string_literal: true

require "test_helper"

class PartsTest < TunerTest
  Parts = PumaTuner::Probe::Parts
  SOURCES = PumaTuner::Probe::Extension::SOURCES

  ROW = /^\s*((?:STEP|SUM|BOTH|INSIDE|OUTSIDE|COUNT|MARKER)\([^a-z].*?\))/

  test "the extension tells the table that Ruby reads where there is none" do
    told = PumaTuner::Probe::GvlClock.parts or skip "there is no extension"
    assert_equal File.read("#{SOURCES}/parts.h").scan(ROW), told.scan(ROW)
    assert_equal told.lines.size, told.scan(ROW).size
  end

  test "the simulator's copy of the table is the same" do
    %w[parts.h buckets.h random.h].each do |name|
      assert_equal File.read("#{SOURCES}/#{name}"), File.read("#{__dir__}/../../ext/shared/#{name}"), name
    end
  end

  test "a request's and a thread's time are made of parts that do not overlap" do
    assert_equal %i[queue cpu preempted gvl_wait gc io lock sleep], Parts::REQUEST
    assert_equal Parts::REQUEST - [:queue] + [:idle], Parts::THREAD
    assert_equal Parts::REQUEST + [:client], Parts::WALL
    assert_equal %i[cpu gc io lock sleep], Parts::DEMANDED
    assert_empty Parts::ALL.select { |part| part.of && Parts::WALL.include?(part.name) }
  end

  test "steps are held by their numbers, and what is inside of a part is a part of its steps" do
    assert_equal ["held", 0], Parts::CODES.first
    assert_equal Parts::STEPS, Parts::CODES.keys.first(Parts::STEPS.size)
    assert_equal %w[io db redis http file], Parts.steps_of(:io)
    assert_equal %w[lock pool], Parts.steps_of(:lock)
    assert_equal %w[sleep], Parts.steps_of(:sleep)
    assert_equal %w[acquire release], Parts::MARKERS.keys
  end

  test "what waits can be replayed, and what is held or idle can't" do
    assert_equal %w[held gvl_wait idle], Parts::STEPS - Parts::WAITS
  end
end
