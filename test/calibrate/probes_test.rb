# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "tmpdir"

# The probes for real, and short: what they give is plausible, whatever this machine does meanwhile.
class ProbesTest < TunerTest
  kind :integration

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

  test "a part of a run in which a quota stops everything does not count" do
    means_ns = [8] * 8 + [50_000] * 2
    handoff = Calibrate::Handoff.dup
    handoff.singleton_class.prepend(Module.new { define_method(:mean_ns) { |_| means_ns.shift } })
    assert_equal 8, handoff.run_ns
    assert_empty means_ns
  end

  test "this Ruby is seen to hand over the GVL as its version says, or to have been patched" do
    tick = Calibrate::Sample.new(values_ns: [10_000_000])
    rule, returns_per_s = Calibrate::GvlRule.call(tick, duration_s: 0.5)
    # A neighbour makes returns fewer, and never more: each but the first comes after a whole slice of the other's.
    assert_operator returns_per_s, :<=, 12 if rule == "fifo"
    assert_includes %w[fifo hot], rule
    assert_operator returns_per_s, :>, 0
  end

  test "the rule is told by how often one returns from a short call, and whether one who slept may pass" do
    of = Calibrate::GvlRule.method(:of)
    assert_equal %w[fifo fifo], [of.call(9.9, 10_100_000), of.call(0.4, 30_000_000)]
    assert_equal %w[hot hot], [of.call(2_500, 10_100_000), of.call(71_000, 10_060_000)]
    assert_equal %w[barging barging], [of.call(860, 30_000), of.call(9_800, 3_000)]
  end

  test "a burst after another thread's takes more CPU, measured for each working set and condition" do
    Calibrate::Spinners.open(1) do |spinners|
      began_s = monotonic_s
      costs = Calibrate::SwitchCpu.call(spinners, 2, duration_s: 0.3)
      lasted_ns = (monotonic_s - began_s) * 1e9
      assert_equal [16, 256, 4_096], costs.map { |cost| cost.working_set_bytes / 1_024 }
      figures_ns = costs.flat_map { |cost| [cost.same_core_ns, cost.idle_ns, cost.busy_ns].compact }
      figures_ns.each { |ns| assert_includes 0..lasted_ns, ns }
      # To put one thread to sleep and wake another is some system calls at least. (A neighbour may drown that in one figure or another.)
      assert_operator figures_ns.max, :>, 0
      refute_nil costs.first.same_core_ns if PumaTuner::Host::Placement.taskset
    end
  end

  test "threads make their bursts in turn, and each walks through all of its memory" do
    chains = Array.new(2) { |seed| Calibrate::SwitchCpu.chain(16 * 1_024, seed) }
    refute_equal(*chains)
    chains.each do |chain|
      places = [0]
      places << chain[places.last] until chain[places.last].zero?
      assert_equal (0...256).map { |line| line * 8 }, places.sort
    end
    walked = []
    noting = ->(name) { Array.new(1, 0).tap { |chain| chain.define_singleton_method(:[]) { |at| walked << name && super(at) } } }
    Calibrate::SwitchCpu.cpu_ns([noting.call(:a), noting.call(:b)], 3)
    assert_equal %i[a b] * 3, walked
    Calibrate::SwitchCpu.cpu_ns([noting.call(:alone)], 2)
    assert_equal %i[alone] * 2, walked.last(2)
  end

  test "a burst after a rest is held against one without" do
    began_s = monotonic_s
    sample = Calibrate::ColdCpu.call(rounds_count: 3)
    lasted_ns = ((monotonic_s - began_s) * 1e9).round
    assert_equal 3, sample.values_ns.size
    sample.values_ns.each { |ns| assert_includes(-lasted_ns..lasted_ns, ns) }
    cold = Calibrate::ColdCpu.dup
    cold.singleton_class.prepend(Module.new { define_method(:cpu_ns) { |_, rest_s| rest_s.zero? ? 80 : 240 } })
    assert_equal [20, 20], cold.extras_ns(2)
  end

  test "another Ruby's threads are measured by that Ruby, and what is none is refused" do
    other = other_ruby
    version, description = Calibrate::FreshRuby.facts(other)
    assert_equal other[/ruby-([\d.]+)/, 1], version
    assert description.start_with?("ruby #{version} ")
    assert_equal [1], Calibrate::FreshRuby.numbers("[RUBY_VERSION == #{version.inspect} ? 1 : 0]", expected_s: 1, ruby: other)
    assert_equal 2, Calibrate::Handoff.call(runs_count: 2, ruby: other).values_ns.size
    assert_match(%r{/bin/true is not CRuby}, assert_raises(PumaTuner::UsageError) { Calibrate::FreshRuby.facts("/bin/true") }.message)
  end

  test "whoever sleeps wakes up late, on a quiet machine and on a busy one" do
    began_s = monotonic_s
    idle = Calibrate::Wakeups.idle(samples_count: 30)
    assert_equal 30, idle.values_ns.size
    # Half of them were as late at least, one after the other.
    assert_includes 1_000..((monotonic_s - began_s) * 1e9 / 15), idle.median_ns
    Calibrate::Spinners.open(2) do |spinners|
      began_s = monotonic_s
      loaded = Calibrate::Wakeups.loaded(2, duration_s: 0.5)
      assert_includes 1_000..((monotonic_s - began_s) * 1e9), loaded.median_ns
    end
  end

  test "a machine on which nobody wakes up can't be calibrated" do
    mistake = assert_raises(PumaTuner::InvalidMeasurement) { Calibrate::Wakeups.ensure_enough([1] * 5, 20) }
    assert_match(/too busy|no figures/, mistake.message)
  end

  test "one busy process does one core's work, two at most two" do
    Calibrate::Spinners.open(3) do |spinners|
      list = Calibrate::EffectiveCores.new(spinners, 1, rounds_count: 1, window_s: 0.1).call
      assert_equal 3, list.size
      assert_equal 1.0, list.first
      assert(list.all? { |cores| cores.positive? && cores <= 1.0 }, list.inspect)
    end
  end

  test "spinners begin together, rest when they are not wanted, and leave nothing behind" do
    pids = nil
    others = PumaTuner::Probe::Processes.children_of(Process.pid) # of tests that ran before in this process
    Calibrate::Spinners.open(2) do |spinners|
      pids = PumaTuner::Probe::Processes.children_of(Process.pid) - others
      began_s = monotonic_s
      works = spinners.work(1, 0.1)
      assert_equal 1, works.size
      assert_operator works.first.cpu_ns, :<=, (monotonic_s - began_s) * 1e9
      assert_operator works.first.count, :>, 0
      assert_raises(RuntimeError) { spinners.while_busy(2, 0) { raise "anything" } }
    end
    refute_empty pids
    assert_empty pids & PumaTuner::Probe::Processes.children_of(Process.pid)
  end

  test "a fresh Ruby has none of our settings, and tells what went wrong" do
    ENV["RUBY_THREAD_TIMESLICE"] = "10"
    assert_equal [1, 2], Calibrate::FreshRuby.numbers("ENV['RUBY_THREAD_TIMESLICE'] || ENV['RUBYOPT'] ? [0] : [1, 2]", expected_s: 1)
    assert_match(/wrong on purpose/, assert_raises(PumaTuner::InvariantError) { Calibrate::FreshRuby.numbers("raise 'wrong on purpose'", expected_s: 1) }.message)
  ensure
    ENV.delete("RUBY_THREAD_TIMESLICE")
  end

  # Each of the first three waits for the others.
  test "fresh Rubies run at the same time, and none is left when one fails" do
    Dir.mktmpdir do |folder|
      all = Calibrate::FreshRuby.numbers_of_each(3, expected_s: 1) do |number|
        "File.write('#{folder}/#{number}', ''); sleep(0.01) until Dir.children('#{folder}').size == 3; [#{number}]"
      end
      assert_equal [[0], [1], [2]], all
    end
    others = children
    assert_raises(PumaTuner::InvariantError) do
      Calibrate::FreshRuby.numbers_of_each(2, expected_s: 60) { |number| number.zero? ? "raise 'wrong on purpose'" : "sleep && [1]" }
    end
    assert_empty children - others
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
    assert_raises(PumaTuner::InvalidMeasurement) { Calibrate::ThreadCpu.of(Process.pid) }
  end

  test "the reactor's share is bounded, and needs a reactor that works" do
    assert_in_delta 0.25, Calibrate::RegisterShare.of(100, 400)
    assert_in_delta 1.0, Calibrate::RegisterShare.of(500, 400)
    assert_raises(PumaTuner::InvalidMeasurement) { Calibrate::RegisterShare.of(0, 0) }
  end

  test "the tail is what pool threads computed and no request did" do
    threads = [3, 5].map do |cpu_ms|
      Probe::ThreadObservation.new(worker_index: nil, name: "puma srv tp 00#{cpu_ms}", requests_count: 50, run_queue_wait_ns: nil,
        budget: Probe::Budget.zero.with(cpu_ns: cpu_ms * MS, gc_ns: MS))
    end
    endpoint = endpoint_observation(requests_count: 100, budget: {cpu_ns: 6 * MS, gc_ns: 2 * MS})
    assert_equal 20_000, Calibrate::Tail.of(observation(endpoints: [endpoint]).with(threads:))
    assert_equal 0, Calibrate::Tail.of(observation(endpoints: [endpoint, endpoint]).with(threads:))
    unknown = threads.map { |thread| thread.with(budget: thread.budget.with(gc_ns: nil)) }
    assert_raises(PumaTuner::InvalidMeasurement) { Calibrate::Tail.of(observation(endpoints: [endpoint]).with(threads: unknown)) }
    assert_raises(PumaTuner::InvalidMeasurement) { Calibrate::Tail.of(observation(endpoints: [endpoint])) }
  end
end
