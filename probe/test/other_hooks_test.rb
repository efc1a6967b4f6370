# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/served_app"

class OtherHooksTest < TunerTest
  time_limit 120

  OtherHooks = PumaTuner::Probe::OtherHooks
  GVLTOOLS = ["/gems/gvltools-0.5.0/lib/gvltools/instrumentation.so", "/lib/gvltools/instrumentation.so"].freeze

  def why_not(**options) = OtherHooks.why_not(version: "3.4.5", forked: true, features: ["/gems/gvltools/gvltools.so"], **options)

  # In this process other tests have put the hook in.
  def without_hook
    clock = PumaTuner::Probe::GvlClock
    original = clock.method(:installed?)
    replace(clock) { false }
    yield
  ensure
    replace(clock, &original)
  end

  def replace(clock, &answer)
    clock.singleton_class.remove_method(:installed?)
    clock.define_singleton_method(:installed?, &answer)
  end

  test "no hook is put in after a fork beside another tool's, on a Ruby that copies the lock" do
    without_hook do
      assert_match(/gvltools has a hook, too, and Ruby 3\.4\.5 may hang .*Bug #21959/, why_not)
      assert_match(/vernier/, why_not(features: ["/x/vernier/vernier.so"]))
      assert_nil why_not(features: ["/x/json/parser.so"])
      assert_nil why_not(forked: false)
      %w[3.3.11 3.4.10 3.4.11 4.0.4 4.1.0].each { |version| assert_nil why_not(version:) }
      %w[3.3.8 3.4.9 4.0.3].each { |version| refute_nil why_not(version:) }
    end
  end

  test "a fork changes nothing where our hook is installed already" do
    assert PumaTuner::Probe::GvlClock.start
    assert_nil why_not
  end

  # Forks again and again while threads are in the hooks of both; each child starts its clock and records.
  SCRIPT = <<~RUBY
    require "gvltools"
    GVLTools::LocalTimer.enable
    GVLTools::GlobalTimer.enable
    PumaTuner::Probe.start(way_in: "run")
    Array.new(8) { Thread.new { loop { IO.select(nil, nil, nil, 0.00001) } } }
    pids = Array.new(60) do
      sleep 0.001
      fork do
        C = PumaTuner::Probe::GvlClock
        exit!(2) unless C.start && C.job_begin
        sleep 0.001
        exit!(C.request_take(false) ? 0 : 3)
      end
    end
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    states = pids.map do |pid|
      sleep 0.01 until (done = Process.wait2(pid, Process::WNOHANG)) ||
        Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      done&.last&.exitstatus
    end
    pids.zip(states) { |pid, state| Process.kill(:KILL, pid) unless state }
    p states.tally
  RUBY

  test "forked under another tool's hook, children start their clocks and none hangs" do
    gemfile = "#{ServedApp::PROJECT}/gemfiles/other_tools.gemfile"
    environment = Bundler.unbundled_env.merge(ServedApp::BASE_ENVIRONMENT, "BUNDLE_GEMFILE" => gemfile).compact
    out, status = Open3.capture2e(environment, RbConfig.ruby, "-rbundler/setup", "-I", PumaTuner::Probe::LIBRARY_FOLDER,
      "-rpuma_tuner/probe", "-e", SCRIPT, unsetenv_others: true)
    assert status.success?, out
    assert_equal "{0 => 60}\n", out.lines.last
  end
end
