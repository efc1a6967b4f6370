# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "block_trials"

class BlockEndingsTest < TunerTest
  include BlockTrials

  # A block that does something at its tenth call.
  def at_tenth(text) = "$calls = 0\nblock do\n  #{text} if ($calls += 1) == 10\n  sleep 0.001\nend\n"

  PID = 'File.write(File.join(__dir__, "pid"), Process.pid.to_s);'

  def pid = read("pid").to_i

  test "a block that can't run once is the user's mistake" do
    text = mistake { trial("\nblock do\n  raise ArgumentError, \"boom\"\nend", variant("two")) }
    assert_match(/\Awith two, .*bench\.rb: ArgumentError: boom \(.*bench\.rb:3\)\z/, text)
  end

  test "a block that raises later voids the trial; what it said is told, and kept in no document" do
    trial = trial(at_tenth('raise KeyError, "boom"'))
    assert_match(/raised, having run before: KeyError \(.*bench\.rb:3\)\z/, in_words(trial.void&.detail))
    assert_match(/KeyError: boom \(.*bench\.rb:3\)/, trial.void.output.join)
    refute_includes JSON.generate(trial.to_document), "boom"
    assert_equal [{}, 0, nil], [trial.values, trial.requests_count, trial.warmup]
  end

  test "the line is the user's, wherever it is raised" do
    assert_match(/bench\.rb:3\)/, in_words(trial(at_tenth('Integer("x")')).void&.detail))
  end

  test "errors that are no StandardErrors void it, too" do
    assert_match(/NotImplementedError/, in_words(trial(at_tenth("raise NotImplementedError")).void&.detail))
    assert_match(/SystemStackError/, in_words(trial(at_tenth("(loop_for_ever = -> { loop_for_ever.call }).call")).void&.detail))
  end

  test "a block that exits voids it with its status" do
    assert_match(/called exit, with status 3/, in_words(trial(at_tenth("exit 3")).void&.detail))
    void = trial(at_tenth("($stderr.puts(\"bye\"); exit! 4)")).void
    assert_match(/ended by itself, with status 4, in the middle/, in_words(void.detail))
    assert_equal ["bye"], void.output
  end

  test "a process that is killed voids it with the signal" do
    assert_match(/killed by SIGKILL \(as the kernel does when memory runs out\)/, in_words(trial(at_tenth("Process.kill(:KILL, $$)")).void&.detail))
    assert_match(/killed by SIGTERM/, in_words(trial(at_tenth("Process.kill(:TERM, $$)")).void&.detail))
  end

  test "a process that is killed at once is void as well" do
    assert_match(/killed by SIGKILL/, in_words(trial("Process.kill(:KILL, $$); block { 1 }").void&.detail))
  end

  test "a block that hangs is stopped" do
    trial = trial(PID + at_tenth("sleep"), grace_s: 0.5)
    assert_match(/the block took longer than 0\.7 s, and was stopped/, in_words(trial.void&.detail))
    refute alive?(pid)
  end

  test "a first iteration that hangs is stopped" do
    runner = Prove::BlockRunner.new(file: write("#{PID} block { sleep }"), commands: ->(_) { command }, warmup_limit_s: 0.1, duration_s: 0.1, boot_limit_s: 3)
    assert_match(/first iteration took longer than 3 s/, in_words(runner.call(variant, round: 0, position: 0).void&.detail))
    refute alive?(pid)
  end

  test "a process that can't be told to end is stopped" do
    trial = trial("trap(:TERM) {}; trap(:INT) {}; #{PID}#{at_tenth("loop { sleep }")}", grace_s: 0.3)
    assert_match(/was stopped/, in_words(trial.void&.detail))
    refute alive?(pid)
  end

  test "what it started does not outlive it" do
    trial = trial('pid = spawn("sleep", "60"); File.write(File.join(__dir__, "pid"), pid.to_s); block { sleep 0.01 }')
    assert_nil trial.void
    wait_until("the end of what it started") { !alive?(pid) }
  end

  test "what it started keeps nobody waiting when it is killed" do
    # Waiting for it would outlast the test's own limit.
    trial = trial("fork { sleep #{2 * TIME_LIMIT_S} }\n#{at_tenth("Process.kill(:KILL, $$)")}", grace_s: 2 * TIME_LIMIT_S)
    assert_match(/SIGKILL/, in_words(trial.void&.detail))
  end

  test "an at_exit that hangs costs two seconds, and not the trial" do
    trial = trial("#{PID} at_exit { sleep }; block { sleep 0.01 }")
    assert_nil trial.void
    refute alive?(pid)
  end

  test "an interruption leaves nothing behind" do
    before = children
    open_before = Dir["/proc/self/fd/*"].size
    running = Thread.new { trial("block { sleep 0.01 }", warmup_limit_s: 30) }
    running.report_on_exception = false
    wait_until("the child's start") { (children - before).any? }
    running.raise(Interrupt)
    assert_raises(Interrupt) { running.value }
    assert_equal before, children
    assert_operator Dir["/proc/self/fd/*"].size, :<=, open_before
  end

  test "trials leave nothing open" do
    runner = runner("block { sleep 0.01 }")
    runner.call(variant, round: 0, position: 0)
    open_before = Dir["/proc/self/fd/*"].size
    runner.call(variant, round: 1, position: 0)
    assert_raises(PumaTuner::UsageError) { trial("block { 1 }", commands: ->(_) { command("/nowhere/ruby") }) }
    # Files of other tests' may be collected meanwhile.
    assert_operator Dir["/proc/self/fd/*"].size, :<=, open_before
  end
end
