# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/builders"
require "tmpdir"

class CalibrateTest < TunerTest
  include CommandLine
  include Builders

  Calibrate = PumaTuner::Calibrate

  def in_folder
    Dir.mktmpdir { |folder| yield folder, {"PUMA_TUNER_CACHE" => File.join(folder, "cache", "puma_tuner")} }
  end

  def calibrated_machine(key = Calibrate.current_key)
    machine(cores_count: 2, meeting_ratio: 0.8).with(tick_ns: 10_070_000, calibrated: Model::Calibrated.new(calibrated_at: "2026-01-01T00:00:00Z", machine_key: key,
      ruby_version: "3.4.5", puma_version: "8.0.2", round_trip_ns: 30_000,
      switch_costs: [Model::SwitchCost.new(working_set_bytes: 1_024, same_core_ns: 1, idle_ns: 2, busy_ns: 3)]))
  end

  # Without the measuring, which has tests of its own.
  def command(folder, calibrated, remarks: [], force: false)
    before = ENV["PUMA_TUNER_CACHE"]
    ENV["PUMA_TUNER_CACHE"] = File.join(folder, "puma_tuner")
    out, err = StringIO.new, StringIO.new
    measure = ->(**, &remark) { remarks.each(&remark) && calibrated }
    PumaTuner::CLI::Commands::Calibrate.new(out:, err:, measure:).call(force:, output: nil, ruby: nil)
    [out.string, err.string]
  ensure
    ENV["PUMA_TUNER_CACHE"] = before
  end

  test "a calibration that is kept is shown, with how to do it again" do
    in_folder do |folder, environment|
      Calibrate::Store.new(File.join(folder, "cache", "puma_tuner")).write(calibrated_machine)
      result = puma_tuner("calibrate", "--output", "machine.json", folder:, environment:)
      assert_equal 0, result.code, result.err
      assert_match(/calibrated at 2026-01-01.*puma_tuner calibrate --force/, result.err)
      assert_match(%r{^kept: .*/cache/puma_tuner/machine-\h{8}\.json$}, result.err)
      assert_match(/^  tick +10\.1 ms  8 samples/, result.out)
      assert_equal calibrated_machine, PumaTuner::Document.read(File.join(folder, "machine.json"), :machine)
    end
  end

  test "a calibration is kept and printed" do
    in_folder do |folder, _|
      fresh = calibrated_machine("some machine")
      out, err = command(folder, fresh, force: true)
      assert_match(/^  some machine; measured at/, out)
      assert_match(/^kept: /, err)
      refute_match(/not quiet/, err)
      assert_equal fresh, Calibrate::Store.new(File.join(folder, "puma_tuner")).read("some machine")
    end
  end

  test "what others disturbed is measured again, and what they hardly touched is not" do
    in_folder do |folder, _|
      store = Calibrate::Store.new(File.join(folder, "puma_tuner"))
      {0.4 => 20_000_000, 0.04 => 10_070_000}.each do |taken_ratio, tick_ns|
        store.write(calibrated_machine.then { |one| one.with(calibrated: one.calibrated.with(taken_ratio:)) })
        out, = command(folder, calibrated_machine.with(tick_ns: 20_000_000))
        assert_match(/^  tick +#{tick_ns / 1_000_000}\.?\d? ms/, out)
      end
    end
  end

  test "what was kept before switches were measured is measured again" do
    in_folder do |folder, _|
      fresh = calibrated_machine
      old = fresh.with(calibrated: fresh.calibrated.with(calibrated_at: "2025-01-01T00:00:00Z", switch_costs: []))
      store = Calibrate::Store.new(File.join(folder, "puma_tuner"))
      store.write(old)
      out, = command(folder, fresh)
      assert_match(/measured at\s+2026-01-01/, out)
      assert_equal fresh, store.read(fresh.calibrated.machine_key)
      out, err = command(folder, old)
      assert_match(/2026-01-01/, out)
      assert_match(/calibrated at 2026-01-01/, err)
    end
  end

  test "what was kept before it was measured how often workers share a core is measured again" do
    in_folder do |folder, _|
      fresh = calibrated_machine
      store = Calibrate::Store.new(File.join(folder, "puma_tuner"))
      store.write(fresh.with(meeting_ratio: nil))
      out, = command(folder, fresh)
      assert_match(/^  sharing a core +80\.0%  2 windows/, out)
      assert_equal fresh, store.read(fresh.calibrated.machine_key)
      out, = command(folder, fresh.with(meeting_ratio: 0.3))
      assert_match(/^  sharing a core +80\.0%/, out)
    end
  end

  test "without a cache it is measured, shown and warned" do
    in_folder do |folder, _|
      File.write(File.join(folder, "file"), "")
      out, err = command(File.join(folder, "file"), calibrated_machine("some machine"))
      assert_match(/some machine/, out)
      assert_match(/cannot keep the calibration.*--output FILE/, err)
    end
  end

  test "a machine that was not quiet is told" do
    in_folder do |folder, _|
      _, err = command(folder, calibrated_machine("some machine"), remarks: ["It was used.", "It was loaded."], force: true)
      assert_match(/was not quiet.*It was used\. It was loaded\. When it is quiet: puma_tuner calibrate --force/, err)
    end
  end

  test "another Ruby's calibration is kept beside our own's" do
    other = other_ruby
    in_folder do |folder, environment|
      key = Calibrate.current_key(ruby: other)
      refute_equal Calibrate.current_key, key
      assert_includes key, "Ruby #{other[/ruby-([\d.]+)/, 1]}, Puma"
      Calibrate::Store.new(File.join(folder, "cache", "puma_tuner")).write(calibrated_machine(key))
      result = puma_tuner("calibrate", "--ruby", other, folder:, environment:)
      assert_match(/calibrated at 2026-01-01/, result.err)
      assert_equal 0, result.code
    end
  end

  test "unknown arguments are refused" do
    in_folder do |folder, environment|
      assert_mistake(/ruby=9\.9\.9: there is no such Ruby/, puma_tuner_in_fork("calibrate", "--ruby", "9.9.9", folder:, environment:))
      assert_mistake(%r{cannot write /nowhere/at/all\.json}, puma_tuner_in_fork("calibrate", "--output", "/nowhere/at/all.json", folder:, environment:))
      assert_mistake(/calibrate --help/, puma_tuner_in_fork("calibrate", "--no-such-option", folder:, environment:))
      assert_empty Dir.children(folder)
    end
  end

  test "the load generator is asked for before anything is measured" do
    in_folder do |folder, environment|
      File.write(File.join(folder, "none.rb"), "require 'puma_tuner'; PumaTuner::Load::Native.instance_variable_set(:@why_not, 'it is not there')")
      result = puma_tuner("calibrate", "--force", folder:, environment: {**environment, "RUBYOPT" => "#{ENV["RUBYOPT"]} -r#{folder}/none.rb"})
      assert_failed(/it is not there/, result)
      refute_match(/tick/, result.err)
    end
  end

  # What comes before these stages takes half a minute of all cores, and shows no more of how it is stopped.
  # RUBYOPT goes, so that a server that is started has it not.
  WITHOUT = <<~RUBY
    ENV.delete("RUBYOPT")
    require "puma_tuner"
    PumaTuner::Calibrate::Run.prepend(Module.new { ENV.fetch("WITHOUT").split(",").each { |name| define_method(name) { |*| {} } } })
  RUBY

  test "Ctrl-C stops all that it started, and keeps nothing" do
    in_folder do |folder, environment|
      log = File.join(folder, "err.log")
      File.write(File.join(folder, "without.rb"), WITHOUT)
      {"all cores busy …" => ["of_ruby,switch_cpu", 2], "Puma's own CPU …" => ["of_ruby,of_cores", 1]}.each do |stage, (without, least)|
        environment = {**environment, "RUBYOPT" => "-r#{folder}/without.rb", "WITHOUT" => without}
        pid = start_puma_tuner("calibrate", "--force", environment:, chdir: folder, out: File::NULL, err: [log, "w"])
        family = wait_until("#{stage} begins", limit_s: 45) do
          tree = PumaTuner::Probe::Processes.tree_of(pid)
          tree if File.read(log).include?(stage) && tree.size > least
        end
        Process.kill(:INT, pid)
        assert_equal 130, Process.wait2(pid).last.exitstatus
        assert_match(/interrupted; everything it started is stopped/, File.read(log))
        wait_until("all have ended") { family.none? { |member| PumaTuner::Probe::Processes.alive?(member) } }
      end
      assert_equal %w[err.log without.rb], Dir.children(folder).sort
    end
  end
end
