# frozen_string_literal: true

require "test_helper"
require "support/profiled_script"

class StackprofProfilerTest < TunerTest
  include ProfiledScript

  def setup = need("stackprof")

  test "shares out CPU time over the methods of all threads" do
    profiled("stackprof", "2.times { [Thread.new { Work.long }, Thread.new { Work.short; Work.rest(0.2) }].each(&:join) }") do |ran|
      samples = ran.samples
      assert_equal ["stackprof", "0.2.28", "cpu", "ns"], [samples.profiler, samples.profiler_version, samples.mode, samples.unit]
      assert_operator samples.samples_count, :>, 50
      # By design 3; beside other work its timer was seen to take 7.
      assert_includes 1.5..9, amount(samples, "Work.long").fdiv(amount(samples, "Work.short"))
      assert_operator amount(samples, "Work.long"), :>, 300_000_000
      assert_operator share(samples, "Work.rest"), :<, 0.1
    end
  end

  test "knows methods by name, file and first line, and when" do
    body = "puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond), Process.pid; Work.long; puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)"
    profiled("stackprof", body) do |ran|
      started_ns, pid, ended_ns = ran.out.split.map(&:to_i)
      long = ran.samples.stacks.flat_map(&:frames).find { |frame| frame.name == "Work.long" }
      assert_equal [ran.script, line_of(ran.script, "def long"), pid], [long.path, long.line, ran.samples.pid]
      assert(stacks(ran.samples, "Work.long").all? { |stack| stack.at_ns.between?(started_ns - 1_000, ended_ns) })
      assert_equal %w[<main> Work.long Work.burn], stacks(ran.samples, "Work.burn").first.frames.first(3).map(&:name)
    end
  end

  test "tells garbage collection apart" do
    profiled("stackprof", "200.times { Work.things(5_000) }; 3.times { GC.start }") do |ran|
      assert_operator amount(ran.samples, PumaTuner::Profile::Frame::GC.name), :>, 0
      assert_equal PumaTuner::Profile::Frame::GC, stacks(ran.samples, PumaTuner::Profile::Frame::GC.name).first.frames.first
    end
  end

  test "samples the main thread's rest in wall mode, and will not start it anywhere else" do
    profiled("stackprof", "#{timed("Work.rest(0.5)")}; Work.short", mode: "wall") do |ran|
      assert_includes 250_000_000..(ran.out.to_i + 2 * ran.samples.interval_ns), amount(ran.samples, "Kernel#sleep")
      assert_operator amount(ran.samples, "Work.short"), :>, 100_000_000
      assert_equal 1_000_000, ran.samples.interval_ns
    end
    error = assert_raises(PumaTuner::UsageError) do
      Thread.new do
        Thread.current.report_on_exception = false
        PumaTuner::Probe::Profilers.find("stackprof").new(path: "/tmp/none", mode: "wall").start
      end.join
    end
    assert_match(/samples only the thread that starts it.*Take its cpu mode, or vernier/, error.message)
  end

  test "counts every object that is made, where it is made" do
    profiled("stackprof", "Thread.new { Work.things(1_000) }.join; Work.things(2_000)", before: "Work.things(1)", mode: "object") do |ran|
      assert_equal ["objects", nil], [ran.samples.unit, ran.samples.interval_ns]
      assert_in_delta 3_000, amount(ran.samples, "Work.things"), 15
    end
  end

  test "refuses files that are cut short, of another kind, mode or version" do
    profiled("stackprof", "Work.short") do |ran|
      whole = File.binread(ran.path)
      assert_refuses_what_is_none("stackprof", whole)
      assert_match(/mode cpu, wanted is wall/, refusal("stackprof", whole, mode: "wall"))
      assert_match(/format 1\.3, and known here is 1\.2/, refusal("stackprof", with(whole, "version" => 1.3)))
      assert_match(/stackprof 0\.3\.01, and known here is ~> 0\.2\.28/, refusal("stackprof", whole.sub("0.2.28", "0.3.01")))
      assert_match(/not what stackprof ~> 0\.2\.28 writes/, refusal("stackprof", with(whole, "frames" => nil)))
    end
  end

  # @return [String] what stackprof's own program prints
  def stackprof(*words)
    folders = PumaTuner::Profile::Library.locate("stackprof", "~> 0.2.28")
    program = folders.map { |folder| File.expand_path("../bin/stackprof", folder) }.find { |path| File.file?(path) }
    IO.popen([bare_environment, RbConfig.ruby, *folders.flat_map { |folder| ["-I", folder] }, program, *words], &:read)
  end

  # Without our adapter.
  def dump(path)
    folders = PumaTuner::Profile::Library.locate("stackprof", "~> 0.2.28")
    text = "require 'stackprof'; #{WORK}; StackProf.run(mode: :cpu, out: ARGV.first, raw: true) { Work.long }"
    assert system(bare_environment, RbConfig.ruby, *folders.flat_map { |folder| ["-I", folder] }, "-e", text, path)
  end

  test "its own viewer reads our file, and we read what it makes of a dump that it wrote without us" do
    profiled("stackprof", "Work.short") do |ran|
      assert_match(/Mode: cpu.*Work\.spin/m, stackprof("--text", ran.path))
      dump("#{ran.path}.dump")
      assert_match(/Marshal format.*stackprof --json FILE > FILE\.json/, refusal("stackprof", File.binread("#{ran.path}.dump")))
      File.write("#{ran.path}.dump.json", stackprof("--json", "#{ran.path}.dump"))
      samples = PumaTuner::Profile::Readers.read(PumaTuner::Probe::Profilers.find("stackprof"), "#{ran.path}.dump.json")
      assert_equal [nil, "cpu", 1_000_000], [samples.profiler_version, samples.mode, samples.interval_ns]
      assert_operator share(samples, "Work.long"), :>, 0.9
    end
  end
end
