# frozen_string_literal: true

require "test_helper"
require "support/profiled_script"

class MemoryProfilerProfilerTest < TunerTest
  include ProfiledScript

  def setup = need("memory_profiler")

  test "counts objects made and kept, by class and line, in all threads" do
    body = "$kept = Work.things(700); Thread.new { Work.things(300); nil }.join; Work.things(20); puts Process.pid, ObjectSpace.memsize_of($kept.first)"
    profiled("memory_profiler", body, before: "require 'objspace'; Work.things(1)") do |ran|
      pid, bytes = ran.out.split.map(&:to_i)
      samples = ran.samples
      assert_equal ["memory_profiler", "1.1.0", "objects", "objects", pid], [samples.profiler, samples.profiler_version, samples.mode, samples.unit, samples.pid]
      things = samples.allocations.select { |allocation| allocation.class_name == "Work::Thing" }
      assert_equal [[ran.script, line_of(ran.script, "made here")]], things.map { |allocation| [allocation.path, allocation.line] }
      assert_equal [1_020, 1_020 * bytes], [things.first.objects_count, things.first.bytes]
      assert_in_delta 700, things.first.retained_objects_count, 30
      assert_equal things.first.retained_objects_count * bytes, things.first.retained_bytes
      assert_equal samples.samples_count, samples.allocations.sum(&:objects_count)
    end
  end

  test "collects garbage again afterwards, and leaves its own report without the contents of strings" do
    profiled("memory_profiler", "$kept = 'a sec' + 'ret'", before: "at_exit { puts GC.disable }") do |ran|
      assert_equal "false", ran.out.strip
      report = File.read("#{ran.path}.txt")
      assert_match(/allocated memory by location\n-+\n.*#{Regexp.escape(ran.script)}:\d+/, report)
      refute_match(/a secret/, report + File.binread(ran.path))
    end
  end

  test "refuses files that are cut short, of another kind or version" do
    profiled("memory_profiler", "Work.things(3)") do |ran|
      whole = File.binread(ran.path)
      assert_refuses_what_is_none("memory_profiler", whole)
      assert_match(/our format 1 for memory_profiler, and known here is 2/, refusal("memory_profiler", with(whole, "format" => 1)))
      assert_match(/memory_profiler 2\.1\.0, and known here is ~> 1\.1/, refusal("memory_profiler", with(whole, "profiler_version" => "2.1.0")))
      assert_match(/not what memory_profiler ~> 1\.1 writes/, refusal("memory_profiler", with(whole, "allocations" => 3)))
    end
  end
end
