# frozen_string_literal: true

require "test_helper"
require_relative "block_trials"

class BlockWarmUpTest < TunerTest
  include BlockTrials

  def warmup(text, **) = trial(text, **).warmup

  test "ends when the block is steady, long before its limit" do
    warmup = warmup("block { sleep 0.002 }", warmup_limit_s: 40)
    assert warmup.steady, warmup.reason
    assert_nil warmup.reason
    assert_operator warmup.duration_ns, :<, 40_000_000_000
  end

  test "what was cut short is said to be not steady" do
    warmup = warmup("block { sleep 0.002 }", warmup_limit_s: 0.1)
    refute warmup.steady
    assert_match(/1 windows? .*too few/, warmup.reason)
  end

  test "a growing heap is never steady, and is measured all the same" do
    trial = trial("KEPT = []; block { 500.times { KEPT << Object.new }; sleep 0.002 }", warmup_limit_s: 2)
    refute trial.warmup.steady
    assert_match(/heap still grew/, trial.warmup.reason)
    assert_nil trial.void
    assert_operator trial.requests_count, :>, 0
  end

  test "new code all the time is never steady with YJIT" do
    trial = trial(<<~'RUBY', warmup_limit_s: 4, commands: ->(_) { command(RbConfig.ruby, "--yjit") })
      $number = 0
      block { eval("def m#{$number += 1} = #{$number}; 40.times { m#{$number} }"); sleep 0.001 }
    RUBY
    refute trial.warmup.steady
    assert_match(/YJIT still compiled/, trial.warmup.reason)
  end

  test "a slow block is not steady before YJIT had a chance" do
    warmup = warmup("block { sleep 0.2 }", warmup_limit_s: 2, commands: ->(_) { command(RbConfig.ruby, "--yjit") })
    assert_match(/30th call/, warmup.reason)
  end

  test "is steady with YJIT, once that is done" do
    warmup = warmup("block { 20.times { |i| i.to_s } }", warmup_limit_s: 40, commands: ->(_) { command(RbConfig.ruby, "--yjit") })
    assert warmup.steady, warmup.reason
  end
end
