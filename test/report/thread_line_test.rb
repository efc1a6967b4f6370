# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require "open3"

class ThreadLineTest < TunerTest
  ThreadLine = PumaTuner::ThreadLine

  # As published: name, then four shares with one decimal.
  FORM = /\Apuma srv tp \d{3}: cpu: \d+\.\d% io: \d+\.\d% gc: \d+\.\d% gvlwait: \d+\.\d%\z/

  def budget(**shares) = TuningFixture.budget(1_000_000, shares)

  test "the line has the published form to the letter" do
    line = ThreadLine.format("puma srv tp 001", budget(cpu: 0.651, io: 0.337, gc: 0.011, gvl_wait: 0.022))
    assert_equal "puma srv tp 001: cpu: 65.1% io: 33.7% gc: 1.1% gvlwait: 2.2%", line
    assert_match FORM, line
  end

  test "every thread of an observation has that form" do
    TuningFixture.observation.threads.each { |thread| assert_match FORM, ThreadLine.format(thread.name, thread.budget) }
  end

  test "idle is in none of the shares" do
    busy = TuningFixture.budget(1_000, {cpu: 0.5, io: 0.5}, idle_ns: 9_000)
    assert_equal "t: cpu: 50.0% io: 50.0% gc: 0.0% gvlwait: 0.0%", ThreadLine.format("t", busy)
  end

  test "an unknown share is a dash, and so are those of a thread that did nothing" do
    assert_equal "t: cpu: 50.0% io: - gc: 0.0% gvlwait: 0.0%", ThreadLine.format("t", budget(cpu: 0.5).with(io_ns: nil))
    assert_equal "t: cpu: - io: - gc: - gvlwait: -", ThreadLine.format("t", TuningFixture.budget(0, {}))
  end

  test "parts without a word in the one-line form follow when one takes a percent" do
    assert_equal "  also: lock 12.0% sleep 3.0% preempted 0.4%", ThreadLine.also(budget(lock: 0.12, sleep: 0.03, preempted: 0.004))
    assert_equal "  also: lock 1.0%", ThreadLine.also(budget(lock: 0.01))
    assert_nil ThreadLine.also(budget(lock: 0.009, sleep: 0.009))
    assert_nil ThreadLine.also(budget.with(lock_ns: nil, sleep_ns: nil, preempted_ns: nil))
  end

  test "the rule of thumb has the published form, and a forecast as many threads at least as it was simulated with" do
    assert_equal "Recommended config: puma -t 3:3", ThreadLine.recommendation(3, workers_count: 1)
    assert_equal "Recommended config: puma -t 1:3", ThreadLine.recommendation(3)
    assert_equal "Recommended config: unknown, no CPU time was seen", ThreadLine.recommendation(nil)
  end

  test "a cluster that is to become a single process is told so, as its own workers would stay" do
    line = ->(workers_count, today_workers_count) { ThreadLine.recommendation(3, workers_count:, today_workers_count:)[/puma .*/] }
    assert_equal ["puma -t 3:3 -w 0", "puma -t 3:3 -w 2", "puma -t 3:3 -w 2", "puma -t 3:3"], [line[1, 2], line[2, 2], line[2, 1], line[1, 1]]
  end

  test "in a serving process it needs neither gems nor the rest of the report" do
    script = "require 'puma_tuner'; PumaTuner::ThreadLine.recommendation(3); b = PumaTuner::Probe::Budget.zero; " \
             "PumaTuner::ThreadLine.format('t', b); PumaTuner::ThreadLine.also(b); " \
             "puts $LOADED_FEATURES.grep(%r{/gems/|puma_tuner/report|/erb}), 'done'"
    output, status = Open3.capture2e(RbConfig.ruby, "--disable-gems", "-I", File.expand_path("../../lib", __dir__), "-e", script, unsetenv_others: true)
    assert_equal ["done\n", true], [output, status.success?]
  end
end
