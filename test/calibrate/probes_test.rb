# frozen_string_literal: true

require "test_helper"
require "support/builders"

# The probes for real, and short: what they give is plausible, whatever this machine does meanwhile.
class ProbesTest < TunerTest
  include Builders

  Calibrate = PumaTuner::Calibrate

  test "a tick is what Ruby's source says, and a little" do
    began_s = monotonic_s
    ticks_ns = Calibrate::Tick.call(samples_count: 4).values_ns
    # A neighbour makes it longer, and nothing shorter. Slices of so many were waited for, after as many sleeps of 150 ms at least.
    assert_operator ticks_ns.min, :>=, 9_900_000, ticks_ns.inspect
    assert_operator ticks_ns.sum * Calibrate::Tick::TICKS_PER_SLICE, :<=, (monotonic_s - began_s - 4 * 0.15) * 1e9
  end

  test "a hand-over takes between a system call and a time slice" do
    began_s = monotonic_s
    sample = Calibrate::Handoff.call(runs_count: 3)
    assert_equal 3, sample.values_ns.size
    # So many there were, one after the other.
    assert_includes 200..((monotonic_s - began_s) * 1e9 / (2 * Calibrate::Handoff::PASSES_COUNT)), sample.median_ns
  end

  test "whoever sleeps wakes up late, on a quiet machine and on a busy one" do
    began_s = monotonic_s
    idle = Calibrate::Wakeups.idle(samples_count: 30)
    assert_equal 30, idle.values_ns.size
    # Half of them were as late at least, one after the other.
    assert_includes 1_000..((monotonic_s - began_s) * 1e9 / 15), idle.median_ns
    Calibrate::Burners.open(2) do |burners|
      began_s = monotonic_s
      loaded = Calibrate::Wakeups.loaded(2, duration_s: 0.5)
      assert_includes 1_000..((monotonic_s - began_s) * 1e9), loaded.median_ns
    end
  end

  test "a machine on which nobody wakes up can't be calibrated" do
    mistake = assert_raises(PumaTuner::VoidMeasurement) { Calibrate::Wakeups.insist([1] * 5, 20) }
    assert_match(/too busy|no figures/, mistake.message)
  end

  test "one busy process does one core's work, two at most two" do
    Calibrate::Burners.open(3) do |burners|
      list = Calibrate::EffectiveCores.new(burners, 1, rounds_count: 1, window_s: 0.1).call
      assert_equal 3, list.size
      assert_equal 1.0, list.first
      assert(list.all? { |cores| cores.positive? && cores <= 1.0 }, list.inspect)
    end
  end

  test "burners begin together, rest when they are not wanted, and leave nothing behind" do
    pids = nil
    others = PumaTuner::Host::Processes.children_of(Process.pid) # of tests that ran before in this process
    Calibrate::Burners.open(2) do |burners|
      pids = PumaTuner::Host::Processes.children_of(Process.pid) - others
      began_s = monotonic_s
      works = burners.work(1, 0.1)
      assert_equal 1, works.size
      assert_operator works.first.cpu_ns, :<=, (monotonic_s - began_s) * 1e9
      assert_operator works.first.count, :>, 0
      assert_raises(RuntimeError) { burners.while_busy(2, 0, 0) { raise "anything" } }
    end
    refute_empty pids
    assert_empty pids & PumaTuner::Host::Processes.children_of(Process.pid)
  end

  test "a fresh Ruby has none of our settings, and tells what went wrong" do
    ENV["RUBY_THREAD_TIMESLICE"] = "10"
    assert_equal [1, 2], Calibrate::FreshRuby.numbers("ENV['RUBY_THREAD_TIMESLICE'] || ENV['RUBYOPT'] ? [0] : [1, 2]", expected_s: 1)
    assert_match(/wrong on purpose/, assert_raises(PumaTuner::InvariantError) { Calibrate::FreshRuby.numbers("raise 'wrong on purpose'", expected_s: 1) }.message)
  ensure
    ENV.delete("RUBY_THREAD_TIMESLICE")
  end

  test "Puma's threads are told apart, and each is seen to work" do
    began_s = monotonic_s
    Calibrate::EmptyApp.serve do |app|
      app.warm_up(0.1)
      client = Calibrate::Client.new(app, turns_count: 1, turn_s: 0.2).call
      app.never_park
      figures = Calibrate::PumaCpu.new(app, turns_count: 2, turn_s: 0.2).call
      turns_ns = (monotonic_s - began_s) * 1e9
      [client.cpu, client.round_trip, *figures.to_h.values].each { |sample| assert_includes 500..(turns_ns / 3), sample.median_ns }
      assert_includes 0.01..0.99, Calibrate::RegisterShare.new(app, batches_count: 6).call
      assert_match(/\A\d+\.\d+/, app.facts["puma_version"])
    end
  end

  test "a process that is no Puma has no such threads" do
    assert_raises(PumaTuner::VoidMeasurement) { Calibrate::ThreadCpu.of(Process.pid) }
  end

  test "the reactor's share is bounded, and needs a reactor that works" do
    assert_in_delta 0.25, Calibrate::RegisterShare.of(100, 400)
    assert_in_delta 1.0, Calibrate::RegisterShare.of(500, 400)
    assert_raises(PumaTuner::VoidMeasurement) { Calibrate::RegisterShare.of(0, 0) }
  end

  test "the tail is what pool threads computed and no request did" do
    threads = [3, 5].map do |cpu_ms|
      Measure::ThreadObservation.new(worker_index: nil, name: "puma srv tp 00#{cpu_ms}", requests_count: 50, run_queue_wait_ns: nil,
        budget: Measure::Budget.zero.with(cpu_ns: cpu_ms * MS, gc_ns: MS))
    end
    endpoint = endpoint_observation(requests_count: 100, budget: {cpu_ns: 6 * MS, gc_ns: 2 * MS})
    assert_equal 20_000, Calibrate::Tail.of(observation(endpoints: [endpoint]).with(threads:))
    assert_equal 0, Calibrate::Tail.of(observation(endpoints: [endpoint, endpoint]).with(threads:))
    unknown = threads.map { |thread| thread.with(budget: thread.budget.with(gc_ns: nil)) }
    assert_raises(PumaTuner::VoidMeasurement) { Calibrate::Tail.of(observation(endpoints: [endpoint]).with(threads: unknown)) }
    assert_raises(PumaTuner::VoidMeasurement) { Calibrate::Tail.of(observation(endpoints: [endpoint])) }
  end
end
