# frozen_string_literal: true

require "test_helper"
require "json"
require "support/profiled_script"

class VernierProfilerTest < TunerTest
  include ProfiledScript

  def setup = need("vernier")

  # How often its sampler's thread gets a core beside other work is a lottery: of three runs the nearest counts.
  test "shares out wall time over methods, running and resting" do
    off = Array.new(3) do
      profiled("vernier", "#{timed("Work.long")}; #{timed("Work.short")}; Work.rest(0.4)") do |ran|
        samples = ran.samples
        assert_equal ["vernier", "1.12.0", "wall", "ns", 1_000_000], [samples.profiler, samples.profiler_version, samples.mode, samples.unit, samples.interval_ns]
        assert_operator amount(samples, "Work.rest"), :>, 150_000_000
        assert_equal samples.stacks.sum(&:amount), samples.samples_count * samples.interval_ns
        assert_nil samples.lost_count
        # As far apart as they were by the script's own clock.
        long_ns, short_ns = ran.out.split.map(&:to_i)
        Math.log(amount(samples, "Work.long").fdiv(amount(samples, "Work.short")) / long_ns.fdiv(short_ns)).abs
      end
    end
    assert_operator off.min, :<, Math.log(1.33)
  end

  test "knows methods by name, file and first line, and C functions by name" do
    profiled("vernier", "Work.long; Work.rest(0.1)") do |ran|
      frames = ran.samples.stacks.flat_map(&:frames).uniq
      long = frames.find { |frame| frame.name == "Work.long" }
      assert_equal [ran.script, line_of(ran.script, "def long")], [long.path, long.line]
      sleeping = frames.find { |frame| frame.name == "Kernel#sleep" }
      assert_equal [nil, nil], [sleeping.path, sleeping.line]
      # The first sample may come before sleep is called.
      assert_includes stacks(ran.samples, "Work.rest").map { |stack| stack.frames.last(2).map(&:name) }, %w[Work.rest Kernel#sleep]
    end
  end

  test "tells each thread's number, when, and who waited for the GVL" do
    body = <<~RUBY
      stop = Queue.new
      threads = [Thread.new { Work.long; stop.pop }, Thread.new { Work.short; stop.pop }]
      sleep 0.02 until threads.all?(&:stop?) && stop.num_waiting == 2
      puts Process.pid, *threads.map(&:native_thread_id)
    RUBY
    now = "puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)"
    profiled("vernier", body, before: "#{now}; at_exit { #{now} }") do |ran|
      began_ns, pid, long, short, ends_ns = ran.out.split.map(&:to_i)
      samples = ran.samples
      assert_equal pid, samples.pid
      assert_equal [long], stacks(samples, "Work.long").map(&:thread).uniq
      assert_equal [short], stacks(samples, "Work.short").map(&:thread).uniq
      assert samples.stacks.all? { |stack| stack.at_ns.between?(began_ns, ends_ns) }
      waits = samples.stacks.select { |stack| stack.frames.last == PumaTuner::Profile::Frame::GVL_WAIT }
      assert_operator waits.sum(&:amount), :>, 80_000_000
      assert_operator waits.map(&:thread).uniq.size, :>=, 2
    end
  end

  test "counts every object that is made, where it is made" do
    body = "stop = Queue.new; thread = Thread.new { Work.things(1_000); stop.pop }; Work.things(2_000); sleep 0.02 until stop.num_waiting == 1"
    # Ruby's own objects count as well, such as those of the first call from a place.
    profiled("vernier", body, before: "Work.things(1)", mode: "objects") do |ran|
      made = stacks(ran.samples, "Work::Thing.new")
      assert_equal ["objects", nil], [ran.samples.unit, ran.samples.interval_ns]
      assert_in_delta 3_000, made.sum(&:amount), 3
      assert_equal [2_000, 1_000], made.group_by(&:thread).values.map { |stacks| stacks.sum(&:amount).round(-1) }.sort.reverse
    end
  end

  test "sums the bytes of what is kept, not of what is gone" do
    profiled("vernier", "$kept = Work.things(500); Work.things(50_000); nil", mode: "retained") do |ran|
      assert_equal "bytes", ran.samples.unit
      assert_in_delta 500 * 40, amount(ran.samples, "Work.things"), 15_000
      assert_nil ran.samples.stacks.first.at_ns
    end
  end

  test "refuses files that are cut short, of another kind, mode or version" do
    profiled("vernier", "Work.short") do |ran|
      whole = File.binread(ran.path)
      assert_refuses_what_is_none("vernier", whole)
      assert_match(/mode wall, wanted is objects/, refusal("vernier", whole, mode: "objects"))
      assert_match(/vernier 2\.1\.0, and known here is ~> 1\.12/, refusal("vernier", whole.sub('"profiler_version":"1.12.0"', '"profiler_version":"2.1.0"')))
      assert_match(/version 99 of the Firefox profiler's format/, refusal("vernier", whole.sub('"preprocessedProfileVersion":48', '"preprocessedProfileVersion":99')))
      assert_match(/not what vernier ~> 1\.12 writes/, refusal("vernier", whole.sub('"stackTable"', '"stacks"')))
      endless = JSON.parse(whole)
      endless["threads"].each { |thread| thread["stackTable"]["prefix"].map!.with_index { |_, row| row } }
      assert_match(/its own ancestor/, refusal("vernier", JSON.generate(endless)))
    end
  end

  test "reads what vernier wrote without our adapter" do
    profiled("vernier", "Work.short") do |ran|
      document = JSON.parse(File.read(ran.path))
      document["meta"]["vernierUserMetadata"] = {}
      File.write(ran.path, JSON.generate(document))
      samples = PumaTuner::Profile::Readers.read(PumaTuner::Probe::Profilers.find("vernier"), ran.path)
      assert_equal [nil, "wall"], [samples.profiler_version, samples.mode]
      refute_empty stacks(samples, "Work.short")
    end
  end
end
