# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"

# The file in which a process records, written by the extension and read by Ruby.
class LedgerTest < TunerTest
  kind :integration

  include PumaTuner::Probe

  Clock = GvlClock
  REQUEST = Ledger::KIND_NUMBERS[:request]

  def setup
    assert Clock.start, Clock.why_not
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "one")
    assert_nil Clock.open_ledger(@path, '{"worker_index":1}')
  end

  def teardown = FileUtils.rm_rf(@folder)

  def request(entry, queued_ns: nil, before_puma_ns: nil)
    Thread.new {
      Clock.request_begin
      yield if block_given?
      Clock.request_end(entry, queued_ns, before_puma_ns)
    }.join
  end

  def read(path = @path) = Ledger.read(path)

  def entry_of(name, ledger = read) = ledger.entries.fetch([:request, name])

  def sums(entry) = Parts::SUMS.zip(entry.sums).to_h

  test "a ledger has as many sums, histograms and buckets as Ruby reads" do
    layout = Clock.layout
    ends = layout.values_at(:name_offset, :histograms_count, :buckets_count)
    assert_equal [layout[:sums_offset] + Parts::SUMS.size * 8, Parts::DISTRIBUTIONS.size, Histogram::BUCKETS_COUNT], ends
    assert_equal Parts::SUMS.first(Parts::DISTRIBUTIONS.size), Parts::DISTRIBUTIONS
  end

  test "both count a duration in the same bucket" do
    random = Random.new(1)
    durations = [0, 1, 31, 32, 1023, 1024, 1025, 2**41, 2**42, 2**43, 2**60] +
      Array.new(5_000) { random.rand(2**random.rand(1..45)) }
    assert_equal durations.map { |ns| PumaTuner::Probe::Histogram.bucket_of(ns) }, durations.map { |ns| Clock.bucket_of(ns) }
  end

  test "packed numbers are added in place, wherever they begin" do
    random = Random.new(1)
    several = Array.new(3) { Array.new(1_056) { random.rand(2**61) } }
    packed = several.map { |numbers| numbers.pack("Q*") }
    sums = packed.first.dup
    assert_same sums, Clock.add(sums, packed[1])
    Clock.add(sums, "x#{packed[2]}".byteslice(1..))
    assert_equal several.transpose.map(&:sum), sums.unpack("Q*")
    assert_equal several[1], packed[1].unpack("Q*")
    assert_raises(ArgumentError) { Clock.add(sums, packed[1].byteslice(8..)) }
    assert_raises(FrozenError) { Clock.add(packed[0].freeze, packed[1]) }
  end

  test "requests add up, and every distribution counts each of them" do
    entry = Clock.entry(REQUEST, "GET /")
    20.times { request(entry) { sleep 0.001 } }
    recorded = entry_of("GET /")
    assert_equal 20, recorded.counts.first
    assert_operator sums(recorded)[:sleep], :>=, 19_800_000
    assert_equal [20], recorded.histograms.map(&:count).uniq
    assert_equal sums(recorded)[:wall], sums(recorded).values_at(:queue, :cpu, :preempted, :gvl_wait, :gc, :io, :lock, :sleep).sum
    fastest_ns, slowest_ns = [0, 1].map { |ratio| recorded.histograms.first.quantile_ns(ratio) }
    assert_operator fastest_ns, :>=, 990_000
    assert_includes fastest_ns..slowest_ns, sums(recorded)[:wall] / 20
  end

  test "the time in Puma's list and before Puma is the request's, too" do
    entry = Clock.entry(REQUEST, "GET /")
    request(entry, queued_ns: Clock.now_ns - 50_000_000, before_puma_ns: 7_000_000)
    recorded = entry_of("GET /")
    assert_operator sums(recorded)[:queue], :>=, 50_000_000
    assert_operator sums(recorded)[:wall], :>=, sums(recorded)[:queue]
    assert_equal 7_000_000, sums(recorded)[:before_puma]
  end

  test "a ledger read while it is written is consistent" do
    entry = Clock.entry(REQUEST, "GET /")
    writer = Thread.new { 20_000.times { Clock.job_begin && Clock.request_end(entry, nil, nil) } }
    until writer.join(0.001)
      recorded = entry_of("GET /")
      assert_equal recorded.counts.first, recorded.histograms.first.count
    end
    assert_equal 20_000, entry_of("GET /").counts.first
  end

  test "a process killed in the middle leaves what it had recorded" do
    path = File.join(@folder, "killed")
    reader, writer = IO.pipe
    pid = fork do
      Clock.start
      Clock.open_ledger(path, "{}")
      entry = Clock.entry(REQUEST, "GET /")
      (1..).each do |count|
        Clock.job_begin
        Clock.request_end(entry, nil, nil)
        writer.write([count].pack("Q")) if count % 100 == 0
      end
    end
    writer.close
    30.times { reader.read(8) }
    Process.kill(:KILL, pid)
    Process.wait(pid)
    told = reader.read.unpack("Q*").last || 3_000
    assert_operator entry_of("GET /", read(path)).counts.first, :>=, told
  end

  test "a child that does not begin to record leaves its parent's ledger alone" do
    entry = Clock.entry(REQUEST, "GET /")
    Process.wait(fork do
      Clock.request_begin
      Clock.request_end(entry, nil, nil)
      Clock.sweep
    end)
    refute read.entries.fetch([:request, "GET /"]).counts.first.positive?
  end

  test "names without end, and names too long, count for the others" do
    before = read.unnamed_count
    numbers = Array.new(500) { |i| Clock.entry(REQUEST, "GET /#{i}") }
    assert_operator read.unnamed_count, :>, before
    assert_equal 1, numbers.tally.values.count { |times| times > 1 }
    3.times { request(numbers.last) }
    assert_equal 3, entry_of("(other)", read).counts.first
    assert_includes PumaTuner::Probe::Account.new({}, {@path => read}).unknown.map { |unknown| [unknown.field, unknown.cause] }, [:names, :no_place]
    assert_operator read.entries.size, :<, 400
  end

  test "threads that each have a name of their own leave room for endpoints, and count together" do
    numbers = Array.new(500) { |i| Clock.entry(PumaTuner::Probe::Ledger::KIND_NUMBERS[:thread], "import #{i}") }
    Clock.entry(REQUEST, "GET /late")
    names = read.entries.keys.filter_map { |kind, name| name if kind == :thread }
    assert_includes names, "import 0"
    assert_equal 1, names.count("(other)")
    assert_operator names.size, :<=, 64
    assert_equal 1, numbers.tally.values.count { |times| times > 400 }
    assert read.entries.key?([:request, "GET /late"])
  end

  test "a name longer than its place is cut, and stays valid text" do
    Clock.entry(REQUEST, "é" * 100)
    name = read.entries.keys.map(&:last).find { |each| each.start_with?("é") }
    assert_predicate name, :valid_encoding?
  end

  test "traces are a sample of each endpoint, all in bounded space" do
    entries = Array.new(12) { |i| Clock.entry(REQUEST, "GET /#{i}") }
    entries.each { |entry| 400.times { Clock.job_begin && Clock.request_end(entry, nil, nil) } }
    counts = read.traces.values.map(&:size)
    assert_equal 12, counts.size
    assert_operator counts.sum, :<=, 2_048
    assert_operator counts.max, :<=, 300
    assert_operator counts.min, :>=, 100, "the last endpoints got their share: #{counts}"
  end

  test "every request of an endpoint is as likely to be kept as any other" do
    entry = Clock.entry(REQUEST, "GET /")
    # Told apart by how long they waited in Puma: never longer than the machine has been up.
    1_500.times { |i| Clock.job_begin && Clock.request_end(entry, Clock.now_ns - 10_000_000 * (i + 1), nil) }
    places = read.traces.fetch([:request, "GET /"]).map { |trace| trace.queue_ns / 10_000_000 }
    assert_equal 300, places.size
    # A uniform sample of 300 of 1 to 1,500 has its mean within 4 standard errors (25) of 750.
    assert_in_delta 750, places.sum.fdiv(300), 100
  end

  test "a new window begins the sample anew, and nothing else" do
    entry = Clock.entry(REQUEST, "GET /")
    5.times { request(entry) }
    Ledger.begin_window(@path)
    assert_empty read.traces
    3.times { request(entry) }
    assert_equal 3, read.traces.fetch([:request, "GET /"]).size
    assert_equal 8, entry_of("GET /").counts.first
  end

  # Room for all that a ledger begins with, one endpoint more and, in a quarter of it, sixteen traces.
  SMALL_BYTES = 400_000

  test "windows that begin again and again take no more room, and each has its sample" do
    assert_nil Clock.open_ledger(path = File.join(@folder, "small"), "{}", SMALL_BYTES)
    entry = Clock.entry(REQUEST, "GET /")
    30.times do
      Ledger.begin_window(path)
      20.times { Clock.job_begin && Clock.request_end(entry, nil, nil) }
      assert_equal({[:request, "GET /"] => 16}, read(path).traces.transform_values(&:size))
    end
    assert_operator File.stat(path).blocks * 512, :<=, SMALL_BYTES
  end

  test "an endpoint that finds no room takes none from those that come after it" do
    layout = Ledger::LAYOUT
    histograms_bytes = layout[:histograms_count] * layout[:buckets_count] * 8
    # Of the 32 entries each ledger begins with six, of which two have histograms; ten more have some, too.
    bytes_max = layout[:entries_offset] + 32 * layout[:entry_bytes] + 12 * histograms_bytes
    assert_nil Clock.open_ledger(path = File.join(@folder, "small"), "{}", bytes_max)
    11.times { |i| Clock.entry(REQUEST, "GET /#{i}") }
    Clock.entry(Ledger::KIND_NUMBERS[:thread], "heartbeat")
    ledger = read(path)
    assert_equal 1, ledger.unnamed_count
    assert_equal [[:request, "GET /9"], [:thread, "heartbeat"]], ledger.entries.keys.last(2)
  end

  test "the requests of a thread are its own, with all it did between them" do
    entry = Clock.entry(REQUEST, "GET /")
    Thread.new {
      Thread.current.name = "puma srv tp 007"
      3.times do
        Clock.request_begin
        sleep 0.005
        Clock.request_end(entry, nil, nil)
      end
    }.join
    thread = read.entries.fetch([:pool_thread, "puma srv tp 007"])
    assert_equal 3, thread.counts.first
    assert_operator sums(thread)[:sleep], :>=, 14_850_000
  end

  test "how often a background thread took the GVL is counted, from one reading to the next" do
    turns = Queue.new
    ticker = Thread.new { sleep(0.001) until turns.pop == :end }
    ticker.name = "ticker"
    tick = ->(count) do
      count.times { turns << :tick }
      wait_until("the thread's rest") { turns.empty? && turns.num_waiting == 1 }
      Clock.sweep
      {@path => read}
    end
    Clock.entry(REQUEST, "GET /")
    before = tick.call(5)
    thread = Account.new(before, tick.call(20)).background.find { |each| each.name == "ticker" }
    assert_includes 20..45, thread.cycles_count # each tick sleeps, and may wait for the next
    assert_equal thread.cycles_count, ThreadObservation.from_document(JSON.parse(JSON.generate(thread.to_document))).cycles_count
    assert_nil ThreadObservation.from_document(JSON.parse(JSON.generate(thread.to_document.except(:cycles_count)))).cycles_count
  ensure
    turns << :end
    ticker.join
  end

  test "a new ledger knows its threads anew" do
    Clock.entry(REQUEST, "GET /")
    stop = Queue.new
    heartbeat = Thread.new { stop.pop }
    heartbeat.name = "heartbeat"
    wait_until("the thread's rest") { heartbeat.stop? }
    Clock.sweep
    second = File.join(@folder, "two")
    assert_nil Clock.open_ledger(second, "{}")
    Array.new(8) { |i| Clock.entry(REQUEST, "GET /#{i}") }
    Clock.sweep
    entries = read(second).entries
    assert_equal [0], entries.filter_map { |(kind, _), entry| entry.counts.first if kind == :request }.uniq
    assert_includes entries.keys, [:thread, "heartbeat"]
  ensure
    stop << 1
    heartbeat.join
  end

  test "whoever held the GVL is blamed for the wait" do
    slow = Clock.entry(REQUEST, "GET /slow")
    quick = Clock.entry(REQUEST, "GET /quick")
    begun = Queue.new
    holder = Thread.new { request(slow) { (begun << 1) && spin(0.8) } }
    begun.pop
    5.times { request(quick) { sleep 0.001 } }
    holder.join
    quick_blames = entry_of("GET /quick").blames
    assert_equal [:request, "GET /slow"], quick_blames.max_by(&:last).first
    # All of the wait, but for what nobody had the GVL.
    waited_ns = sums(entry_of("GET /quick"))[:gvl_wait]
    assert_includes (waited_ns / 2)..(waited_ns * 1.001), quick_blames.values.sum
    assert_operator entry_of("GET /slow").counts[Parts::COUNTS.index(:slices)], :>=, 1
    assert_operator entry_of("GET /slow").counts[Parts::COUNTS.index(:long_holds)], :>=, 1
  end

  test "background threads are blamed by their name, digits left out" do
    quick = Clock.entry(REQUEST, "GET /quick")
    running = true
    begun = Queue.new
    heartbeat = Thread.new { (begun << 1) && spin(0.001) while running }
    heartbeat.name = "heartbeat 12"
    begun.pop
    Clock.sweep
    5.times { request(quick) { sleep 0.001 } }
    running = false
    heartbeat.join
    assert_equal [:thread, "heartbeat #"], entry_of("GET /quick").blames.max_by(&:last).first
    Clock.sweep
    assert_operator read.entries.keys.count { |kind, _| kind == :thread }, :>=, 1
  end

  test "the garbage collector is blamed as itself" do
    quick = Clock.entry(REQUEST, "GET /quick")
    kept = Array.new(400_000) { Object.new }
    running = true
    begun = Queue.new
    collector = Thread.new { (begun << 1) && GC.start while running }
    begun.pop
    10.times { request(quick) { sleep 0.001 } }
    running = false
    collector.join
    assert_operator kept.size, :>, 0
    assert_operator entry_of("GET /quick").blames.fetch([:special, "(gc)"], 0), :>, 0
  end

  test "a ledger that is not there, or not complete, is none" do
    assert_nil Ledger.read(File.join(@folder, "missing"))
    File.write(File.join(@folder, "empty"), "")
    assert_nil Ledger.read(File.join(@folder, "empty"))
  end

  test "where no file may be as long as a ledger, that is told, and no signal ends the process" do
    reader, writer = IO.pipe
    Process.wait(fork do
      Process.setrlimit(:FSIZE, 1 << 20)
      Clock.start
      writer.syswrite(Clock.open_ledger(File.join(@folder, "limited"), "{}"))
      exit!(0)
    end)
    writer.close
    assert_predicate $?, :success?, $?.inspect
    assert_equal Errno::EFBIG.new.message, reader.read
    assert_equal %w[one], Dir.children(@folder)
  end

  # As another worker does, a process asks for as long as the pipe is open whether anybody writes the ledger of that path. It fails when it
  # was told that nobody does, while the ledger was there.
  # @return [Integer] the process's id
  def ask_whether_ended(path, reader, writer)
    fork do
      writer.close
      until reader.wait_readable(0)
        exit!(1) if ended_while_there?(path)
      end
      exit!(0)
    end
  end

  def ended_while_there?(path)
    File.open(path) { |file| file.flock(File::LOCK_SH | File::LOCK_NB) && file.stat.nlink == 1 }
  rescue Errno::ENOENT
    false
  end

  test "whoever looks at a ledger that has just been made finds it locked, and does not keep its writer from that" do
    path = File.join(@folder, "1-1.ledger")
    reader, writer = IO.pipe
    pids = Array.new(2) { ask_whether_ended(path, reader, writer) }
    200.times do
      assert_nil Clock.open_ledger(path, "{}")
      File.unlink(path)
    end
    writer.close
    statuses = pids.map { |pid| Process.wait2(pid).last.exitstatus }
    assert_equal [0, 0], statuses
  end

  test "a folder that can't be written to is named" do
    assert_match(/No such file/, Clock.open_ledger(File.join(@folder, "no", "where"), "{}"))
  end
end
