# frozen_string_literal: true

require "test_helper"
require "json"

# What a server's folder tells: who boots, what was done since the last look, and what its memory bears.
class TrialServerTest < TunerTest
  include PumaTuner

  Found = Data.define(:pid, :ours, :directory, :ledgers) do
    def alive? = pid == Process.pid
  end

  # By path, as its processes would have left them.
  class Ledgers
    attr_accessor :entries

    def initialize(directory, names)
      @directory, @names, @entries = directory, names, {}
    end

    def paths = @names.map { |name| File.join(@directory, "#{name}.ledger") }

    def ended?(_path) = false

    def read(&) = paths.to_h { |path| [path, Ledger.new(entries:, process_cpu_ns: 0)] }
  end

  Ledger = Data.define(:entries, :process_cpu_ns)

  Entry = Data.define(:kind, :name, :counts, :histograms, :sums) do
    def -(other) = with(counts: counts.zip(other.counts).map { |one, before| one - before })
  end

  def entry(count)
    Entry.new(kind: :request, name: "GET /", counts: [count], histograms: [Probe::Histogram.of([1] * count)],
      sums: [0] * Probe::Parts::SUMS.size)
  end

  # @param states [Hash{String => Hash, nil}] by name of the ledger
  # @yieldparam server [Trial::Server]
  # @yieldparam directory [String]
  def serving(states)
    Dir.mktmpdir do |directory|
      states.each { |name, state| File.write(File.join(directory, "#{name}.pool"), JSON.generate(state)) if state }
      @ledgers = Ledgers.new(directory, states.keys)
      pids = Object.new.tap { |one| one.define_singleton_method(:pid_of) { |_| } }
      yield Trial::Server.new(Found.new(pid: Process.pid, ours: false, directory:, ledgers: @ledgers), pids:), directory
    end
  end

  def state(pid, **others)
    {format: Probe::Resize::FORMAT, pid:, worker_index: pid, configured: [3, 3], least: 1, most: 8, automatic: true, why_not: nil, errors_count: 5,
     connections_count: nil, pool: {max_count: 3, spawned_count: 3, live_count: 3, waiting_count: 0, queued_count: 0}, **others}
  end

  test "a process that boots is told as such, and one that allows nothing likewise" do
    serving("1" => state(1), "0" => state(0)) { |server| assert_equal [0, 1], server.ready_states.map { |one| one[:pid] } }
    serving("0" => state(0), "1" => nil) do |server|
      assert_match(/a process of the server \d+ boots, or can't write what it tells; wait until/, assert_raises(Trial::Server::Silent) { server.states }.message)
    end
    [{"0" => nil, "1" => nil}, {}].each do |none|
      serving(none) do |server|
        error = assert_raises(UsageError) { server.states }
        assert_match(/does not allow it, or is still booting\. Start it with/, error.message)
        refute_kind_of Trial::Server::Silent, error
      end
    end
    serving("0" => []) { |server| assert_match(/does not allow it/, assert_raises(UsageError) { server.states }.message) }
    serving("0" => state(0, configured: nil, why_not: "old_puma")) do |server|
      assert_match(/can't be resized: old_puma/, assert_raises(UsageError) { server.states }.message)
    end
  end

  test "a child that the app has forked to measure a job serves nothing, and is not waited for" do
    now_ns = Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)
    old, young = [90, 10].map { |age_s| "7-#{now_ns - age_s * 1_000_000_000}" }
    serving("0" => state(0), old => nil) { |server| assert_equal [0], server.states.map { |one| one[:pid] } }
    serving("0" => state(0), young => nil) { |server| assert_raises(Trial::Server::Silent) { server.states } }
    serving(old => state(0), young => nil) { |server| assert_in_delta 90, server.youngest_s, 5 }
    serving(old => nil) { |server| assert_match(/does not allow it/, assert_raises(UsageError) { server.states }.message) }
  end

  test "one that boots is waited for" do
    serving("0" => state(0), "1" => nil) do |server|
      path = @ledgers.paths.last.sub(".ledger", ".pool")
      writer = Thread.new { sleep(0.3) && File.write(path, JSON.generate(state(1))) }
      assert_equal [0, 1], server.ready_states.map { |one| one[:pid] }
      writer.join
    end
  end

  test "a process that told of its threads and does not any more is silent: it was not replaced, and is no server that allows nothing" do
    [["0"], %w[0 1]].each do |names|
      serving(names.to_h { |name| [name, state(name.to_i)] }) do |server|
        server.states
        paths = @ledgers.paths.map { |path| path.sub(".ledger", ".pool") }
        reading = ->(at_s) { server.take(at_s).workers.map { |one| [one.pid, one.silent?, one.threads_count, one.errors_count] } }
        told = paths.map.with_index { |_, pid| [pid, false, 3, 0] }
        assert_equal told, reading[0.0]
        paths.each { |path| File.unlink(path) }
        assert_raises(Trial::Server::Silent) { server.states }
        2.times { |at_s| assert_equal told.map { |pid,| [pid, true, 0, 0] }, reading[at_s + 1.0] }
        names.each { |name| File.write(paths[name.to_i], JSON.generate(state(name.to_i, errors_count: 7))) }
        assert_equal told.map { |pid,| [pid, false, 3, 0] }, reading[3.0], "errors of meanwhile are of looks that do not count"
        server.states
        File.unlink(paths.last)
        server.forget
        assert_equal [paths.size, true], server.take(0.0).workers.then { |all| [all.size, all.last.silent?] }
      end
    end
  end

  test "an order that can't be written says what is so: the server has ended, its folder has gone, or has no place" do
    failed = lambda do |server|
      assert_raises(MeasurementFailed) { server.order({}) }.then { |error| [error.message, error.is_a?(Trial::Server::Gone)] }
    end
    serving("0" => state(0)) do |server, directory|
      Dir.mkdir(File.join(directory, "#{Probe::Resize::ORDER}.#{Process.pid}.partial"))
      assert_match(/can't be given an order: .+ Its processes have what is configured\z/, failed[server].first)
      refute failed[server].last
      FileUtils.rm_r(directory)
      assert_match(/\A#{directory}, the folder of the server #{Process.pid}, was removed; /, failed[server].first)
      assert failed[server].last
      ended = Trial::Server.new(Found.new(pid: 0, ours: false, directory:, ledgers: @ledgers), pids: nil)
      assert_equal ["the server 0 has ended", true], failed[ended]
      Dir.mkdir(directory)
    end
  end

  test "what was before counts nothing for another trial" do
    serving("0" => state(0)) do |server|
      count = ->(at_s, requests) do
        @ledgers.entries = {[:request, "GET /"] => entry(requests)}
        server.take(at_s).then { |reading| [reading.since_s, reading.workers.first.endpoints.size] }
      end
      assert_equal [0.0, 0], count.call(0.0, 10)
      assert_equal [0.0, 1], count.call(1.0, 20)
      server.forget
      assert_equal [0.5, 0], count.call(0.5, 70), "it begins where it begins, with nothing"
      assert_equal [0.5, 1], count.call(1.5, 80)
    end
  end

  test "a trial begins with what processes tell now, and not with what they told as they booted" do
    serving("0" => state(0, told_at_ns: 1)) do |server, directory|
      path = @ledgers.paths.first.sub(".ledger", ".pool")
      process = Thread.new do
        sleep 0.01 until File.exist?(File.join(directory, Probe::Resize::ORDER))
        AtomicFile.write(path, JSON.generate(state(0, told_at_ns: Clock.now_ns, errors_count: 9, connections_count: 4)))
      end
      assert_equal [[4, 9]], server.fresh_states.map { |one| one.values_at(:connections_count, :errors_count) }
      process.join
      refute_path_exists File.join(directory, Probe::Resize::ORDER)
      2.times { |at_s| assert_equal [0], server.take(at_s).workers.map(&:errors_count) }
    end
  end

  # A server in a control group.
  class Limited
    attr_reader :leader_pid, :memory_limit_bytes

    def initialize(used_bytes, limit_bytes)
      @used_bytes, @memory_limit_bytes = used_bytes, limit_bytes
    end

    def all_memory_bytes(_pids) = @used_bytes
  end

  test "a trial is not begun that the control group's memory is too short for" do
    plan = lambda do |used_bytes, limit_bytes, threads_count = 5|
      Trial::Plan.for(Limited.new(used_bytes, limit_bytes), [state(0), state(1)], threads_count:, duration_s: 60)
    end
    mib = Units::MIB
    assert_equal 1_000 * mib, plan.call(935 * mib, 1_000 * mib).memory_limit_bytes
    assert_match(/--threads 5: the server's processes use 936 MiB of 1000 MiB/, assert_raises(UsageError) { plan.call(936 * mib, 1_000 * mib) }.message)
    assert plan.call(999 * mib, 1_000 * mib, 2), "fewer threads need none"
    assert plan.call(999 * mib, nil)
  end
end
