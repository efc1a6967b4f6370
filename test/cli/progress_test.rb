# frozen_string_literal: true

require "test_helper"
require "stringio"

class ProgressTest < TunerTest
  # Draws are told apart by the carriage return before each.
  class Terminal < StringIO
    def tty? = true

    def draws = string.split("\r").reject(&:empty?)
  end

  # Stands still unless it is told to go on, so that what is drawn meanwhile is the same again.
  class Clock
    attr_accessor :now_s

    def initialize = @now_s = 100.0

    def call = @now_s
  end

  def setup
    @clock = Clock.new
  end

  def drawn(expected_s, &)
    terminal = Terminal.new
    PumaTuner::CLI::Progress.new(terminal, clock: @clock).stage("prove", expected_s, &)
    terminal.draws
  end

  test "a bar tells the steps that are done, and the time left by those" do
    draws = drawn(nil) do |stage|
      @clock.now_s += 30
      stage.done(1, 4)
    end
    assert_equal ["prove |#{" " * 68}| 0%\e[K", "prove |#{"=" * 14}#{" " * 42}| 25%, 1:30 left\e[K", "prove |#{"=" * 66}| 100%\e[K\n"], draws
  end

  test "each line has one width, however long its text" do
    draws = drawn(60) do |stage|
      stage.note("round 3 of 8, #{"a variant with a long name " * 5}", 200)
      @clock.now_s += 50
      stage.note("round 4 of 8", 150)
    end
    assert_equal [79], draws.map { |line| line.chomp.delete_suffix("\e[K").length }.uniq
    assert_match(/\Aprove: round 4 of 8 \|=+ +\| 25%, 2:30 left/, draws[-2])
  end

  test "in a narrow window no line is wider than that, as each is drawn over the one before" do
    {60 => 59, 30 => 29, 12 => 11, 1 => 0}.each do |columns, width|
      terminal = Terminal.new
      terminal.define_singleton_method(:winsize) { [24, columns] }
      PumaTuner::CLI::Progress.new(terminal, clock: @clock).stage("prove", 60) do |stage|
        stage.note("round 3 of 8, #{"a variant with a long name " * 5}", 200)
      end
      assert_equal [width], terminal.draws.map { |line| line.chomp.delete_suffix("\e[K").length }.uniq, columns
    end
  end

  test "work that takes longer than expected is not told as done, and its line ends however it ends" do
    terminal = Terminal.new
    assert_raises(Interrupt) do
      PumaTuner::CLI::Progress.new(terminal, clock: @clock).stage("load", 10) do |stage|
        @clock.now_s += 100
        stage.note("still")
        raise Interrupt
      end
    end
    assert_match(/\Aload: still \|=+ \| 99%\e\[K\n\z/, terminal.draws.last)
  end

  test "elsewhere there are lines, with no more than a few steps" do
    pipe = StringIO.new
    PumaTuner::CLI::Progress.new(pipe, clock: @clock).stage("predict", nil) do |stage|
      (1..100).each { |step| stage.done(step, 100) }
      @clock.now_s += 2
    end
    assert_equal "predict …\n  25 of 100\n  50 of 100\n  75 of 100\npredict: done in 2.0 s\n", pipe.string
  end
end
