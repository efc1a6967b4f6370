# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Who held the GVL while a request waited for it. Holders compute and release nothing, so whose
# the wait is, is known; but for the way from one thread to the next, which is long where others
# want the cores, and counts for whoever was last.
class BlameTest < TunerTest
  include PumaTuner::Probe

  Clock = GvlClock
  REQUEST, JOB = Ledger::KIND_NUMBERS.values_at(:request, :job)

  def setup
    assert Clock.start, Clock.why_not
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "one")
    assert_nil Clock.open_ledger(@path, "{}")
    @waiting = Clock.entry(REQUEST, "GET /waiting")
  end

  def teardown = FileUtils.rm_rf(@folder)

  def request(entry)
    Clock.request_begin
    yield
    Clock.request_end(entry, nil, nil)
  end

  # As a thread of Puma's pool waits for its next request.
  def rest(seconds)
    mutex = Mutex.new
    mutex.synchronize { ConditionVariable.new.wait(mutex, seconds) }
  end

  # Requests that wait beside a thread that does the block over and over.
  #
  # @yieldparam times [Integer] how often it was done before
  # @return [Hash{Array(Symbol, String) => Float}] who held the GVL, by kind and
  #   name, to the share of all that they waited
  def shares_beside(requests_count:, sleeps_count: 1, sleep_s: 0.002)
    running = true
    holder = Thread.new {
      Thread.current.name = "holder"
      (0..).each do |times|
        break unless running
        yield times
      end
    }
    requests_count.times { request(@waiting) { sleeps_count.times { sleep sleep_s } } }
    running = false
    holder.join
    blames = Ledger.read(@path).entries.fetch([:request, "GET /waiting"]).blames
    blames.transform_values { |ns| ns.fdiv(blames.values.sum) }
  end

  test "what a request computes last, and ends without releasing the GVL, is its own" do
    slow = Clock.entry(REQUEST, "GET /slow")
    shares = shares_beside(requests_count: 10) do
      request(slow) { spin(0.03) }
      rest(0.001)
    end
    assert_operator shares.fetch([:request, "GET /slow"], 0), :>=, 0.6, shares.inspect
  end

  test "a request that computes after its last wait is charged with that, too" do
    tail = Clock.entry(REQUEST, "GET /tail")
    shares = shares_beside(requests_count: 10) do
      request(tail) { [sleep(0.001), spin(0.03)] }
      rest(0.001)
    end
    assert_operator shares.fetch([:request, "GET /tail"], 0), :>=, 0.6, shares.inspect
  end

  test "a hold that spans two requests is each one's as far as it reached" do
    first, second = Clock.entry(REQUEST, "GET /first"), Clock.entry(REQUEST, "GET /second")
    shares = shares_beside(requests_count: 10, sleep_s: 0.0005) do
      request(first) { spin(0.02) }
      request(second) { spin(0.04) }
      rest(0.005)
    end
    assert_operator shares.fetch([:request, "GET /first"], 0), :>=, 0.1, shares.inspect
    assert_operator shares.fetch([:request, "GET /second"], 0), :>=, 0.4, shares.inspect
  end

  test "what a thread computes before and after its job is the thread's, not the job's" do
    job = Clock.entry(JOB, "Import")
    Clock.sweep
    shares = shares_beside(requests_count: 10, sleep_s: 0.0005) do |times|
      Clock.sweep if times.zero? # so that the thread has a name
      spin(0.02)
      Clock.job_begin
      spin(0.02)
      Clock.request_end(job, nil, nil)
      spin(0.02)
      sleep 0.005
    end
    assert_operator shares.fetch([:thread, "holder"], 0), :>=, 0.3, shares.inspect
    assert_operator shares.fetch([:job, "Import"], 0), :>=, 0.1, shares.inspect
  end

  test "a request that waits for more requests than can be told apart charges them all the same" do
    entries = [Clock.entry(REQUEST, "GET /one"), Clock.entry(REQUEST, "GET /two")]
    shares = shares_beside(requests_count: 2, sleeps_count: 60, sleep_s: 0.001) do |times|
      request(entries[times % 2]) { spin(0.005) }
      rest(0.0005)
    end
    entries.each_index { |index| assert_operator shares.fetch([:request, "GET /#{%w[one two][index]}"], 0), :>=, 0.2, shares.inspect }
    assert_operator shares.fetch([:special, "(other)"], 0), :<=, 0.1, shares.inspect
  end

  test "a request that goes on long after it waited still knows for whom" do
    quick = Clock.entry(REQUEST, "GET /quick")
    shares = shares_beside(requests_count: 3, sleeps_count: 3, sleep_s: 0.1) do
      request(quick) { spin(0.003) }
      rest(0.0002)
    end
    assert_operator shares.fetch([:request, "GET /quick"], 0), :>=, 0.2, shares.inspect
    assert_operator shares.fetch([:special, "(other)"], 0), :<=, 0.1, shares.inspect
  end
end
