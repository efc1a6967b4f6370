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
