# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# What is recorded without the extension, and at which price.
class FallbackRecorderTest < TunerTest
  include PumaTuner::Probe

  # A thread of the recorder's sleeps a second; more is the machine's.
  WITHIN_S = 20

  def setup
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "1-1.json")
    @fallback = FallbackRecorder.new(path: @path, facts: {}, endpoint: Endpoint.new)
  end

  def teardown = FileUtils.rm_rf(@folder)

  def add(wall_ns, queue_ns: 0)
    now = @fallback.send(:instant)
    @fallback.send(:add, :job, "a job", [now.first - wall_ns, now.last], now.first - wall_ns - queue_ns, nil)
  end

  # @return [Ledger::Entry, nil] of the file
  def written = Written.read(@path).entries[[:job, "a job"]]

  def wait_for
    deadline_s = monotonic_s + WITHIN_S
    sleep 0.05 until yield || monotonic_s > deadline_s
    assert yield
  end

  # @return [Integer] objects made by the block
  def made_count
    before = GC.stat(:total_allocated_objects)
    yield
    GC.stat(:total_allocated_objects) - before
  end

  test "what a request ends with is written without another request, and while nothing is new nothing is" do
    @fallback.job("a job") { 1 }
    assert_nil written
    wait_for { written }
    before = File.stat(@path)
    sleep 1.5 * FallbackRecorder::INTERVAL_S
    assert_equal before.ino, File.stat(@path).ino
    @fallback.job("a job") { 1 }
    wait_for { written.counts.first == 2 }
  end

  test "no request writes" do
    writers = []
    @fallback.define_singleton_method(:write) { (writers << Thread.current) && super() }
    deadline_s = monotonic_s + WITHIN_S
    @fallback.job("a job") { sleep 0.01 } until writers.size == 2 || monotonic_s > deadline_s
    assert_equal 2, writers.size
    refute_includes writers, Thread.current
  end

  # Objects are counted, as how long it takes is the machine's.
  test "a request costs the same however many others were recorded before" do
    @fallback.define_singleton_method(:write) { nil } # its objects are no request's
    add(1_000_000)
    few = made_count { 100.times { add(1_000_000) } }
    700.times { |number| add((10**(4 + number / 200.0)).to_i, queue_ns: (10**(4 + number / 200.0)).to_i) }
    many = made_count { 100.times { add(1_000_000) } }
    assert_in_delta few, many, 100
  end

  test "what is counted in place is what a histogram of the same durations counts" do
    queues_ns = [0, 0, 31, 999, 1_000, 1_024, 5_000_000, 5_000_001, 70_000_000_000]
    queues_ns.each { |queue_ns| add(1_000, queue_ns:) }
    @fallback.send(:write)
    histograms = Parts::DISTRIBUTIONS.zip(written.histograms).to_h
    assert_equal Histogram.of(queues_ns), histograms.fetch(:queue)
    assert_equal queues_ns.sum, written.sums[Parts::SUMS.index(:queue)]
    assert_equal queues_ns.size, histograms.fetch(:wall).count
  end

  test "a forked child has a recording of its own, which is written while it lives" do
    script = <<~RUBY
      PumaTuner::Probe::GvlClock.define_singleton_method(:why_not) { "no extension" }
      PumaTuner.measure("parent's") { 1 }
      Process.wait(fork {
        PumaTuner.measure("child's") { 1 }
        path = PumaTuner::Probe.recording.ledger_path
        deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + #{WITHIN_S}
        names = -> { PumaTuner::Probe::Written.read(path).entries.keys.map(&:last) }
        sleep 0.05 until names.call.any? || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
        p names.call
        $stdout.flush
        exit!(true)
      })
      at_exit { p PumaTuner::Probe::Written.read(PumaTuner::Probe.recording.ledger_path).entries.keys.map(&:last) }
      PumaTuner::Probe.recorder.send(:write)
    RUBY
    out, = Open3.capture2({"RUBYOPT" => nil, "RUBYLIB" => nil, "PUMA_TUNER_DIRECTORY" => @folder}, RbConfig.ruby,
      "-I", LIBRARY_FOLDER, "-rpuma_tuner/probe", "-e", script, err: File::NULL)
    assert_equal "[\"child's\"]\n[\"parent's\"]\n", out
  end
end
