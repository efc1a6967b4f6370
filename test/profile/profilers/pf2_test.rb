# frozen_string_literal: true

require "test_helper"
require "support/profiled_script"

class Pf2ProfilerTest < TunerTest
  include ProfiledScript

  def setup = need("pf2")

  test "shares out CPU time over the methods of all threads" do
    tries do
      profiled("pf2", "[Thread.new { Work.long }, Thread.new { Work.short; Work.rest(0.2) }].each(&:join)") do |ran|
        samples = ran.samples
        assert_equal ["pf2", "0.14.0", "cpu", "ns"], [samples.profiler, samples.profiler_version, samples.mode, samples.unit]
        assert_operator samples.interval_ns, :>, 5_000_000
        assert_operator amount(samples, "Work.long"), :>, 300_000_000
        assert_equal samples.samples_count, samples.stacks.size
        assert_operator samples.samples_count, :>, 30
        assert_in_delta 3, amount(samples, "Work.long").fdiv(amount(samples, "Work.short")), 1.5
        assert_operator share(samples, "Work.rest"), :<, 0.1
        assert_operator samples.lost_count, :<, 10
      end
    end
  end

  test "knows methods by name, file and first line, and when" do
    body = "puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond), Process.pid; Work.long; puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)"
    profiled("pf2", body) do |ran|
      started_ns, pid, ended_ns = ran.out.split.map(&:to_i)
      long = ran.samples.stacks.flat_map(&:frames).find { |frame| frame.name == "Work.long" }
      assert_equal [ran.script, line_of(ran.script, "def long"), pid], [long.path, long.line, ran.samples.pid]
      inside = stacks(ran.samples, "Work.long")
      assert inside.all? { |stack| stack.at_ns.between?(started_ns, ended_ns) }
      assert_equal inside.map(&:at_ns).sort, inside.map(&:at_ns)
    end
  end

  test "samples the main thread's rest in wall mode" do
    profiled("pf2", "Work.rest(0.5)", mode: "wall", interval_us: 5_000) do |ran|
      assert_operator share(ran.samples, "Kernel#sleep"), :>, 0.5
      assert_equal ["wall", 5_000_000], [ran.samples.mode, ran.samples.interval_ns]
    end
  end

  test "refuses files that are cut short, of another kind, mode or version" do
    profiled("pf2", "Work.short") do |ran|
      whole = File.binread(ran.path)
      assert_refuses_what_is_none("pf2", whole)
      assert_match(/mode cpu, wanted is wall/, refusal("pf2", whole, mode: "wall"))
      assert_match(/pf2 0\.15\.0, and known here is ~> 0\.14\.0/, refusal("pf2", whole.sub("0.14.0", "0.15.0")))
      assert_match(/not what pf2 ~> 0\.14\.0 writes/, refusal("pf2", whole.sub("locations", "locatians")))
    end
  end
end
