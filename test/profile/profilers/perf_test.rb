# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "support/profiled_script"

class PerfProfilerTest < TunerTest
  include ProfiledScript

  Perf = PumaTuner::Profile::Perf

  def setup
    why_not = Perf.new.why_not
    skip why_not if why_not
  end

  # A process that says its number, and then works until it is ended.
  def working(body, words: [])
    IO.popen([RbConfig.ruby, "--disable-gems", *words, "-e", "#{WORK}\n$stdout.sync = true; puts \"pid \#{Process.pid}\"\n#{body}"]) do |io|
      # YJIT says first where its map is.
      line = io.gets until line&.start_with?("pid")
      yield line[/\d+/].to_i, io
    ensure
      Process.kill(:KILL, io.pid)
      FileUtils.rm_f("/tmp/perf-#{io.pid}.map")
    end
  end

  def recorded(*pids, duration_s: 0.5, **)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "profile#{Perf::EXTENSION}")
      Perf.new.record(pids:, path:, duration_s:, **)
      assert_equal [path], Dir["#{folder}/*"]
      yield path
    end
  end

  test "sees all threads' CPU time in the interpreter, with the thread and the instant" do
    body = "t = Thread.new { loop { Work.spin } }; sleep 0.02 until t.native_thread_id; puts t.native_thread_id; loop { sleep 1 }"
    working(body) do |pid, io|
      tid = Integer(io.gets)
      started_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      recorded(pid, frequency: 199) do |path|
        samples = Perf.read(path)
        ended_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        assert_equal ["perf", "cpu", "ns", pid, 0], [samples.profiler, samples.mode, samples.unit, samples.pid, samples.lost_count]
        assert_match(/\A\d+\.\d+/, samples.profiler_version)
        assert_in_delta 1_000_000_000 / 199, samples.interval_ns, 1
        assert_operator samples.samples_count, :>, 5
        assert_equal samples.samples_count, samples.stacks.size
        assert_operator samples.stacks.count { |stack| stack.thread == tid }, :>, samples.samples_count * 0.9
        assert_operator share(samples, "vm_exec_core"), :>, 0.5
        assert_operator samples.stacks.count { |stack| stack.frames.last&.layer == "interpreter" }, :>, samples.samples_count * 0.5
        assert samples.stacks.all? { |stack| stack.at_ns.between?(started_ns, ended_ns) }
        assert_in_delta samples.samples_count * samples.interval_ns, samples.stacks.sum(&:amount), samples.interval_ns * samples.samples_count * 0.1
      end
    end
  end

  test "names the methods that YJIT compiled, where it was asked to" do
    skip "this Ruby has no YJIT" unless defined?(RubyVM::YJIT)
    working("loop { Work.spin }", words: %w[--yjit --yjit-perf --yjit-call-threshold=5]) do |pid, _|
      recorded(pid) do |path|
        samples = Perf.read(path)
        method = samples.stacks.flat_map(&:frames).find { |frame| frame.name == "spin" }
        assert_equal ["-e", WORK.lines.index { |line| line.include?("def spin") } + 1], [method.path, method.line]
        assert_operator share(samples, "spin"), :>, 0.5
      end
    end
  end

  test "sums up several processes" do
    working("loop { Work.spin }") do |first, _|
      working("loop { Work.spin }") do |second, _|
        recorded(first, second, duration_s: 2) do |path|
          samples = Perf.read(path)
          assert_nil samples.pid
          assert_equal [first, second].sort, samples.stacks.map(&:thread).uniq.sort & [first, second]
        end
      end
    end
  end

  test "finds nothing in a process that rests" do
    working("sleep") do |pid, _|
      recorded(pid) { |path| assert_operator Perf.read(path).samples_count, :<, 3 }
    end
  end

  test "refuses files that are cut short or of another kind" do
    working("loop { Work.spin }") do |pid, _|
      recorded(pid) do |path|
        whole = File.binread(path)
        assert_match(/it is empty/, refusal("perf", ""))
        assert_match(/was not written by perf/, refusal("perf", "{}"))
        [8, 9, 100, 104, whole.bytesize / 2, whole.bytesize - 1].each { |size| assert_match(/it is cut short/, refusal("perf", whole.byteslice(0, size))) }
        assert_match(/perf can't read it/, refusal("perf", "PERFILE2" + "\x00" * 2_000))
      end
    end
    assert_raises(PumaTuner::UsageError) { Perf.read("/nowhere", mode: "wall") }
  end

  test "says what to do when there is no such process, or perf is not there" do
    error = assert_raises(PumaTuner::MeasurementFailed) { Perf.new.record(pids: [2**22 - 1], path: "/tmp/none", duration_s: 1) }
    assert_match(/perf recorded nothing\. Are the processes still there\?/, error.message)
    error = assert_raises(PumaTuner::UsageError) { Perf.new(search_path: "/nowhere").record(pids: [1], path: "/tmp/none", duration_s: 1) }
    assert_match(/perf is not on PATH\. Install it: sudo apt-get install linux-perf/, error.message)
  end
end
