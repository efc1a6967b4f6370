# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class LedgersTest < TunerTest
  include PumaTuner::Measure

  def setup
    @ledgers = Ledgers.new(Dir.mktmpdir)
  end

  def teardown = FileUtils.rm_rf(@ledgers.directory)

  # A process that records so many requests, and ends.
  def record(count, name: "GET /")
    pid = fork do
      GvlClock.start
      abort unless GvlClock.open_ledger(@ledgers.new_path("ledger"), "{}").nil?
      entry = GvlClock.entry(Ledger::KIND_NUMBERS[:request], name)
      count.times { GvlClock.job_begin && GvlClock.request_end(entry, nil, nil) }
      exit!(0)
    end
    Process.wait(pid)
    assert_predicate $?, :success?
  end

  def account(before = {}) = Account.new(before, @ledgers.read)

  def counts(account) = account.endpoints.to_h { |endpoint| [endpoint.name, endpoint.requests_count] }

  # A process that watches locks: each of two is held once, in the order that is given, in a request of its own; and ends.
  def record_locks(order, rounds: 1)
    pid = fork do
      GvlClock.start
      abort unless GvlClock.open_ledger(@ledgers.new_path("ledger"), "{}").nil? && GvlClock.watch_locks
      locks = {first: Mutex.new, second: Mutex.new}
      hold = {
        first: -> { locks[:first].synchronize { sleep 0.001 } },
        second: -> { locks[:second].synchronize { sleep 0.001 } }
      }
      rounds.times do
        order.each do |name|
          GvlClock.job_begin
          hold[name].call
          GvlClock.request_end(GvlClock.entry(Ledger::KIND_NUMBERS[:request], name.to_s), nil, nil)
        end
      end
      exit!(0)
    end
    Process.wait(pid)
    assert_predicate $?, :success?
  end

  # @return [Hash{String => Array<Integer>}] by endpoint, the locks in its traces
  def traced_locks(account)
    account.endpoints.to_h { |endpoint| [endpoint.name, endpoint.traces.flat_map { |trace| trace.steps.each_slice(2).filter_map { |kind, id| id if kind == "acquire" } }.uniq] }
  end

  test "processes add up" do
    record(3)
    record(4)
    record(5, name: "GET /other")
    assert_equal({"GET /" => 7, "GET /other" => 5}, counts(account))
    assert_equal 7, account.endpoints.first.latency.count
  end

  test "two readings make a window" do
    record(3)
    before = @ledgers.read
    record(4)
    assert_equal({"GET /" => 4}, counts(account(before)))
    assert_equal 4, account(before).endpoints.first.latency.count
  end

  test "ledgers of processes that have ended become one, and nothing is lost" do
    (Folding::ENDED_MAX + 1).times { record(2) }
    before = @ledgers.read
    @ledgers.fold_ended
    assert_equal ["ended.json"], @ledgers.paths.map { |path| File.basename(path) }
    assert_equal({"GET /" => 2 * (Folding::ENDED_MAX + 1)}, counts(account))
    assert_empty counts(account(before)), "a window that spans it gains nothing by it"
    (Folding::ENDED_MAX + 1).times { record(1) }
    @ledgers.fold_ended
    assert_equal({"GET /" => 3 * (Folding::ENDED_MAX + 1)}, counts(account))
  end

  test "a trace of an endpoint that came after the entries were read is left out" do
    record(3)
    path = @ledgers.paths.first
    traces = Ledger.read(path).traces
    assert_equal 3, traces.values.sum(&:size)
    File.open(path, "r+b") { |file| file.pwrite([300].pack("Q"), Ledger::LAYOUT[:traces_offset] + 8) }
    assert_equal 2, Ledger.read(path).traces.values.sum(&:size)
  end

  test "a process without the extension is one of the server's" do
    unaided = Unaided.new(path: @ledgers.new_path("json"), facts: {worker_index: 2, why_not: "no extension"}, endpoint: Endpoint.new)
    unaided.job("a job") { 1 + 1 }
    unaided.send(:write)
    ledger = @ledgers.read.values.first
    assert_equal [Process.pid, 2], [ledger.pid, ledger.facts["worker_index"]]
    assert_equal [[:job, "a job"]], ledger.entries.keys
    assert_equal ["no extension"], account.unknown.values
  end

  test "the same lock has one id in all processes, in whichever order they came upon it" do
    record_locks(%i[first second])
    record_locks(%i[second first], rounds: 2)
    locks = account.locks
    assert_equal [[3, 2], [3, 2]], locks.map { |lock| [lock.holds_count, lock.threads_count] }
    traced = traced_locks(account)
    assert_equal [1, 1], traced.values.map(&:size), traced.inspect
    assert_equal locks.map(&:id).sort, traced.values.flatten.sort
    assert_operator account.probe(nil).lock_pairs_count, :>=, 6
  end

  test "a lock's numbers are those of the window, and one that nobody held in it is not told of" do
    record_locks(%i[first second])
    @ledgers.begin_window
    before = @ledgers.read
    record_locks(%i[second], rounds: 3)
    assert_equal([[3, 0]], account(before).locks.map { |lock| [lock.holds_count, lock.waits_count] })
    assert_nil Account.new({}, {}).locks
  end

  test "locks of processes that have ended stay known when their ledgers become one" do
    (Folding::ENDED_MAX + 1).times { record_locks(%i[first second]) }
    before = @ledgers.read
    @ledgers.fold_ended
    assert_equal ["ended.json"], @ledgers.paths.map { |path| File.basename(path) }
    assert_equal [Folding::ENDED_MAX + 1] * 2, account.locks.map(&:holds_count)
    assert_empty account(before).locks
    assert_operator account.probe(nil).lock_pairs_count, :>=, 2 * (Folding::ENDED_MAX + 1)
  end

  test "few ended ledgers stay as they are" do
    record(2)
    @ledgers.fold_ended
    assert_equal 1, @ledgers.paths.size
    refute_includes @ledgers.paths.first, "ended.json"
  end

  test "the folder of a server that has ended is removed when another begins" do
    pid = fork { exit!(0) }
    Process.wait(pid)
    abandoned = Ledgers.of_server(pid).directory
    assert_path_exists abandoned
    ours = Ledgers.of_server(Process.pid).directory
    assert_path_exists ours
    refute_path_exists abandoned
  ensure
    FileUtils.rm_rf([abandoned, ours].compact)
  end
end
