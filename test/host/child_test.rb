# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class ChildTest < TunerTest
  kind :integration

  Child = PumaTuner::Host::Child

  test "gives what it printed on both streams, and how it ended" do
    output, status = Child.output_of(["sh", "-c", "echo out; echo err >&2; exit 3"], limit_s: 5)
    assert_equal [%W[err\n out\n], 3], [output.lines.sort, status.exitstatus]
  end

  test "is killed when it takes too long" do
    before = children
    # Waited for, it would outlast this test's own limit.
    assert_nil Child.output_of(["sleep", (2 * TIME_LIMIT_S).to_s], limit_s: 0.2)
    assert_equal before, children
  end

  test "is killed when the wait is interrupted" do
    before = children
    waiting = Thread.new { Child.output_of(["sleep", "30"], limit_s: 60) }
    waiting.report_on_exception = false
    wait_until("the child's start") { (children - before).any? }
    waiting.raise(Interrupt)
    assert_raises(Interrupt) { waiting.value }
    assert_equal before, children
  end

  test "may say what it has when the wait is interrupted" do
    before = children
    Dir.mktmpdir do |folder|
      trapped = File.join(folder, "trapped")
      program = "trap 'echo so far; exit' INT; echo begun; touch #{trapped}; while :; do sleep 0.05; done"
      waiting = Thread.new { Child.output_of(["sh", "-c", program], limit_s: 60, stop_signal: :INT) }
      wait_until("the child's trap") { File.exist?(trapped) }
      waiting.raise(Interrupt)
      assert_equal "begun\nso far\n", waiting.value.first
    end
    assert_equal before, children
    silent = Thread.new { Child.output_of(["sleep", "30"], limit_s: 60, stop_signal: :INT) }
    silent.report_on_exception = false
    wait_until("the child's start") { (children - before).any? }
    silent.raise(Interrupt)
    assert_raises(Interrupt) { silent.value }
    assert_equal before, children
  end

  test "leaves nothing open when it cannot be started" do
    open_before = Dir["/proc/self/fd/*"].size
    assert_raises(Errno::ENOENT) { Child.output_of(["/nowhere/tool"], limit_s: 5) }
    assert_equal open_before, Dir["/proc/self/fd/*"].size
  end

  test "a child's own children are stopped with it, even after it has ended" do
    before = children
    reader, writer = IO.pipe
    child = Child.new("sh", "-c", "sleep 30 & echo $!", out: writer)
    refute_predicate child, :alive?
    child.start
    writer.close
    pid = Integer(reader.gets)
    assert_predicate child.wait, :success?
    3.times { child.stop }
    refute PumaTuner::Probe::Processes.alive?(pid)
    assert_equal before, children
  ensure
    reader&.close
  end

  test "an interruption at its start does not lose it" do
    before = children
    20.times do
      child = Child.new("sleep", "30")
      starting = Thread.new { child.start && sleep }
      starting.report_on_exception = false
      Thread.pass
      starting.raise(Interrupt)
      assert_raises(Interrupt) { starting.value }
      child.stop
    end
    assert_equal before, children
  end
end
