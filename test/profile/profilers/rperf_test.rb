# frozen_string_literal: true

require "test_helper"
require "json"
require "zlib"
require "support/profiled_script"

class RperfProfilerTest < TunerTest
  include ProfiledScript

  def setup = need("rperf")

  test "shares out CPU time over methods, and no rest" do
    profiled("rperf", "[Thread.new { Work.long }, Thread.new { Work.short; Work.rest(0.3) }].each(&:join)") do |ran|
      samples = ran.samples
      assert_equal ["rperf", "0.11.1", "cpu", "ns", 1_000_000, 0], [samples.profiler, samples.profiler_version, samples.mode, samples.unit, samples.interval_ns, samples.lost_count]
      assert_operator amount(samples, "Work.long"), :>, 300_000_000
      assert_in_delta 3, amount(samples, "Work.long").fdiv(amount(samples, "Work.short")), 1
      assert_operator share(samples, "Work.rest"), :<, 0.1
      assert_operator samples.samples_count, :>, 100
    end
  end

  test "tells in wall mode how long threads rested and waited for the GVL" do
    body = "[Thread.new { Work.long }, Thread.new { Work.short; #{timed("Work.rest(0.3)")} }].each(&:join)"
    profiled("rperf", body, mode: "wall", interval_us: 2_000) do |ran|
      samples = ran.samples
      assert_equal ["wall", 2_000_000], [samples.mode, samples.interval_ns]
      # Between two samples, it may have slept or not.
      rested_ns = samples.stacks.select { |stack| stack.frames.last.name == "Kernel#sleep" }.sum(&:amount)
      assert_includes 150_000_000..(ran.out.to_i + 2 * samples.interval_ns), rested_ns
      waits = stacks(samples, PumaTuner::Profile::Frame::GVL_WAIT.name)
      assert_operator waits.sum(&:amount), :>, 80_000_000
      assert(waits.all? { |stack| stack.frames.last == PumaTuner::Profile::Frame::GVL_WAIT })
    end
  end

  test "knows methods by name and file, C functions by name, and the process" do
    profiled("rperf", "Work.long; Work.rest(0.1); puts Process.pid", mode: "wall") do |ran|
      frames = ran.samples.stacks.flat_map(&:frames).uniq
      assert_equal [ran.script, nil], frames.find { |frame| frame.name == "Work.long" }.then { |frame| [frame.path, frame.line] }
      assert_nil frames.find { |frame| frame.name == "Kernel#sleep" }.path
      assert_equal "<main>", ran.samples.stacks.first.frames.first.name
      assert_equal ran.out.to_i, ran.samples.pid
    end
  end

  test "writes a file that rperf reads, and starts no program for it" do
    profiled("rperf", "Work.short", before: "def Kernel.spawn(*) = raise('a program'); def IO.popen(*) = raise('a program')") do |ran|
      document = JSON.parse(Zlib.gunzip(File.binread(ran.path)))
      assert_equal %w[meta summary], document.keys.first(2)
      assert_nil document["meta"]["git"]
      assert_operator document["summary"]["total_ms"], :>, 100
    end
  end

  test "refuses files that are cut short, of another kind, mode or version" do
    profiled("rperf", "Work.short") do |ran|
      whole = File.binread(ran.path)
      assert_refuses_what_is_none("rperf", whole)
      text = Zlib.gunzip(whole)
      assert_refuses_what_is_none("rperf", text)
      assert_match(/mode cpu, wanted is wall/, refusal("rperf", whole, mode: "wall"))
      assert_match(/rperf 0\.12\.0, and known here is ~> 0\.11\.1/, refusal("rperf", text.sub('"rperf_version":"0.11.1","pid"', '"rperf_version":"0.12.0","pid"')))
      assert_match(/not what rperf ~> 0\.11\.1 writes/, refusal("rperf", text.sub('"aggregated_samples"', '"samples"')))
    end
  end
end
