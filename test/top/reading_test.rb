# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"

# What is read of ledgers that processes write, beside what the probe itself reads of them.
class TopReadingTest < TunerTest
  Probe = PumaTuner::Probe
  Top = PumaTuner::Top

  def setup
    @ledgers = Probe::Ledgers.new(Dir.mktmpdir)
    @server = Top::Server.new(pid: Process.pid, identity: "", directory: @ledgers.directory, folder: nil, ours: false)
    @writers = []
  end

  def teardown
    @writers.each { |pid, io| io.close && Process.wait(pid) }
    FileUtils.rm_rf(@ledgers.directory)
  end

  # A process that records so many requests for each line that it is sent, and lives until the test ends.
  # @return [Proc] that sends a line, and waits until it is done
  def writer(worker_index)
    orders, order = IO.pipe
    done, told = IO.pipe
    others = @writers.map(&:last)
    pid = fork do
      [order, done, *others].each(&:close)
      Probe::GvlClock.start
      Probe::GvlClock.open_ledger(@ledgers.new_path("ledger"), JSON.generate({worker_index:, threads_count: 3}))
      told.puts
      orders.each_line do |line|
        name, count = line.split
        count.to_i.times { Probe::GvlClock.job_begin && (Thread.pass || true) && Probe::GvlClock.request_end(Probe::GvlClock.entry(Probe::Ledger::KIND_NUMBERS[:request], name), nil, nil) }
        told.puts
      end
      exit!(0)
    end
    [orders, told].each(&:close)
    done.gets
    @writers << [pid, order]
    lambda { |line|
      order.puts(line)
      done.gets
    }
  end

  test "figures are those that the probe itself reads, whoever wrote meanwhile" do
    one, two = writer(0), writer(1)
    one.call("a 5")
    reader = Top::Reader.new(@server)
    before, full_before = reader.take, @ledgers.read
    one.call("a 40")
    two.call("a 20")
    two.call("b 3")
    after, full_after = reader.take, @ledgers.read
    summed = after.totals.to_h { |key, entry| [key, [entry.counts, entry.sums, entry.blames, entry.histograms.first&.counts]] }
    assert_equal Probe::Ledger.sum(full_after.values).to_h { |key, entry| [key, [entry.counts, entry.sums, entry.blames, entry.histograms.first&.counts]] }, summed
    told = ->(account) { account.endpoints.map { |work| [work.name, work.requests_count, work.budget, work.latency.counts, work.latency.zero_count, work.p50_ns, work.p99_ns] } }
    assert_equal told.call(Probe::Account.new(full_before, full_after)), told.call(Probe::Account.new(before.ledgers, after.ledgers))
    assert_equal [["a", 60], ["b", 3]], Top::Status.of(@server, before, after).endpoints.map { |row| [row.name, row.requests_count] }
  end

  test "of a cluster only workers serve, and not what records jobs beside them" do
    alone = writer(nil)
    alone.call("a 1")
    reader = Top::Reader.new(@server)
    assert_equal [nil], reader.take.processes.map(&:worker_index)
    [1, 0].each { |index| writer(index) }
    assert_equal [0, 1], reader.take.processes.map(&:worker_index)
  end

  test "what nobody wrote since is not read anew" do
    one, two = writer(0), writer(1)
    one.call("a 5")
    one.call("b 5")
    reader = Top::Reader.new(@server)
    two.call("a 2")
    two.call("b 1")
    before = reader.take
    one.call("a 1")
    after = reader.take
    [[before, after].map { |reading| reading.ledgers.values.first.entries }, [before, after].map(&:totals)].each do |then_, now|
      assert_equal [false, true], %w[a b].map { |name| now.fetch([:request, name]).equal?(then_.fetch([:request, name])) }
    end
  end

  test "a process that has ended is counted, and is none that serves" do
    one = writer(0)
    reader = Top::Reader.new(@server)
    before = reader.take
    one.call("a 7")
    pid, io = @writers.pop
    io.close
    Process.wait(pid)
    after = reader.take
    assert_equal [[pid], []], [before, after].map { |reading| reading.processes.map(&:pid) }
    assert_equal 7, Top::Status.of(@server, before, after).requests_count
  end

  test "packed histograms are the plain ones, mixed with those, too" do
    pack = ->(values) { Probe::Histogram.of(values).then { |plain| [plain, Top::PackedHistogram.new(values.size, Array.new(Probe::Histogram::BUCKETS_COUNT) { |bucket| plain.counts.to_h.fetch(bucket, 0) }.pack("Q*"))] } }
    plain, packed = pack.call([0, 500, 1_000_000, 1_000_000, 30_000_000])
    others, more = pack.call([0, 1_000_000])
    numbers = ->(histogram) { [histogram.zero_count, histogram.counts, histogram.quantile_ns(0.5)] }
    [[plain + others, packed + more], [plain - others, packed - more], [plain + others, packed + others], [plain + others, plain + more], [plain - others, packed - others]]
      .each { |expected, found| assert_equal numbers.call(expected), numbers.call(found) }
  end
end
