# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/soak"

class SoakTest < TunerTest
  kind :integration

  computes! # its clients ask for a minute and a half

  time_limit 240

  def result(**changes)
    counts = {probe: Soak::Counts.new(1_000, 990, 12), none: Soak::Counts.new(1_100, 1_100, 0)}
    Soak::Result.new(minutes: 3, seed: 1, events: {kill_worker: 2}, growth:, counts:, quiet_counts: {probe: 500, none: 520},
      recorded_count: 1_000, killed_count: 2,
      ledger_bytes: 8 << 20, lines: [], **changes)
  end

  # An hour in which all is as promised.
  def hour(**changes)
    counts = {probe: Soak::Counts.new(1_357_053, 1_357_028, 300), none: Soak::Counts.new(1_735_441, 1_735_420, 314)}
    events = Soak::Pair::EVENTS.to_h { |name| [name, 10] }
    result(minutes: 60, counts:, recorded_count: 1_357_025, killed_count: 46, events:, **changes)
  end

  # @param served_count [Integer] by each worker between two samples
  # @yieldparam name [Symbol] of the server
  # @yieldparam worker [Integer] 0 or 1
  # @yieldparam step [Integer]
  # @yieldreturn [Integer] bytes that the worker has grown by until then
  def growth(served_count: 4_000)
    samples = %i[probe none].to_h do |name|
      workers = Array.new(2) do |worker|
        Array.new(Soak::Pair::STEPS_COUNT + 1) do |step|
          rss_bytes = (60 << 20) + (block_given? ? yield(name, worker, step) : 0)
          Soak::Sample.new(requests_count: 500 + step * served_count, rss_bytes:, cpu_ns: step * served_count * 700_000)
        end
      end
      [name, workers]
    end
    Soak::Growth.new(samples:)
  end

  # @return [Growth] in which workers with the probe lose this much at each request, and all of them 24 bytes more
  def losing(bytes, served_count: 4_000)
    growth(served_count:) { |name, _, step| step * served_count * ((name == :probe) ? 24 + bytes : 24) }
  end

  # Heaps that grow now and then: each worker by 1 MiB, at another time.
  def in_steps
    growth do |name, worker, step|
      first = 7 + 8 * worker + ((name == :probe) ? 0 : 2)
      (step >= first) ? 1 << 20 : 0
    end
  end

  test "a request that is lost, or counted twice, a worker that grows and a server that complains break a promise" do
    assert_empty result.broken
    assert_empty result(recorded_count: 994).broken, "requests under way in workers that were killed"
    assert_match(/993 requests were recorded/, result(recorded_count: 993).broken.first)
    assert_match(/1007 requests were recorded/, result(recorded_count: 1_007).broken.first)
    assert_match(/grew by 17\.0 bytes more at each request/, result(growth: losing(17)).broken.first)
    assert_match(/\[BUG\]/, result(lines: ["[BUG] Segmentation fault"]).broken.first)
    [1_100, 1_001, 987].each do |answered_count|
      counts = {probe: Soak::Counts.new(1_000, answered_count, 12), none: Soak::Counts.new(1_100, 1_100, 0)}
      assert_match(/clients #{answered_count}/, result(counts:).broken.first)
    end
    counts = {probe: Soak::Counts.new(299, 299, 19), none: Soak::Counts.new(1_100, 1_100, 0)}
    wrong = ->(probe, none) { {probe: Soak::Counts.new(1_000, 990, 12, probe), none: Soak::Counts.new(1_100, 1_100, 0, none)} }
    assert_empty result(counts: wrong.call(8, 1)).broken
    assert_match(/\A9 responses were not the app's with the probe, 1 without/, result(counts: wrong.call(9, 1)).broken.first)
    without = growth.with(samples: growth.samples.merge(probe: []))
    nothing = result(growth: without, counts:, recorded_count: 299).broken
    assert_match(/\A0 workers of the server with the probe lived/, nothing[0])
    assert_match(/\A299 requests had their response from the server with the probe, which is no soak/, nothing[1])
    assert_match(/\A19 connections broke with the probe, 0 without/, nothing[2])
  end

  test "a loss of an allocation at each request breaks a promise; that of both servers, a step of the heap and less do not" do
    assert_empty hour.broken
    assert_empty hour(growth: losing(16)).broken
    assert_match(/\Aa worker grew by 32\.0 bytes more at each request with the probe, at most 16/, hour(growth: losing(32)).broken.first)
    step = growth { |name, worker, number| (name == :probe && worker == 0 && number >= 11) ? 2 << 20 : 0 }
    assert_equal [[0.0, 0.0], 0.0], [step.slopes(:probe), step.own_bytes]
    assert_empty hour(growth: step).broken
  end

  test "where few requests came, a loss has to be larger than what a heap grows by by chance" do
    few = losing(600, served_count: 40) # 600 bytes at each of 1,600 requests, less than a MiB
    assert_equal 1_048_576 / 1_600.0, few.most_bytes
    assert_empty result(growth: few).broken
    assert_match(/grew by 700\.0 bytes more/, result(growth: losing(700, served_count: 40)).broken.first)
    none = losing(0, served_count: 0)
    assert_equal 1 << 20, none.most_bytes
    assert_match(/\A0 workers of the server with the probe lived through the quiet phase and served/, result(growth: none).broken.first)
  end

  test "an hour excludes a loss of one allocation, or says that its memory grew too irregularly" do
    assert_equal 0, losing(0).lost_most_bytes
    assert_equal 16, losing(16).lost_most_bytes
    # Each server has a growth of 26.2 bytes at a request in two of its eight quarters of 40,000: a standard error of 4.29.
    assert_in_delta 6.067, in_steps.error_bytes, 0.001
    assert_equal 9, in_steps.lost_most_bytes, "1.895 standard errors of the workers with the probe, whose slope is 0"
    assert_empty hour(growth: in_steps).broken
    wild = growth { |_, worker, step| (step >= 5 + 10 * worker) ? 4 << 20 : 0 }
    assert_match(/\Amemory grew too irregularly: the probe may have lost up to 33 bytes/, hour(growth: wild).broken.first)
    assert_empty result(growth: wild).broken, "no promise of a short soak"
  end

  test "workers that grew less with the probe show how far servers are apart by chance, and what they grew by in all what it lost" do
    assert_equal 20, losing(-20).error_bytes
    assert_equal 4, losing(-20).lost_most_bytes, "all that they grew by"
    lost_much = growth { |name, _, step| step * 4_000 * ((name == :probe) ? 40 : 60) } # by 40 bytes, perhaps, beside a server that grew by 60
    assert_equal 38, lost_much.lost_most_bytes, "1.895 times the 20 bytes by which the servers are apart"
    assert_match(/may have lost up to 38 bytes/, hour(growth: lost_much).broken.first)
  end

  test "half as many connections again may break as without the probe, and each fault has to come" do
    broken = ->(count) { {probe: Soak::Counts.new(1_357_053, 1_357_028, count), none: Soak::Counts.new(1_735_441, 1_735_420, 314)} }
    assert_empty hour(counts: broken.call(483)).broken
    assert_equal ["484 connections broke with the probe, 314 without"], hour(counts: broken.call(484)).broken
    events = hour.events.merge(burst: 9)
    assert_equal ["burst happened 9 times, which shows nothing of it"], hour(events:).broken
    without = growth.with(samples: growth.samples.merge(none: growth.samples[:none].first(1)))
    assert_match(/\A1 workers of the server without it lived/, hour(growth: without).broken.first)
  end

  test "a worker that was not there to be killed excuses no request" do
    [[nil, 1, 0], [1, nil, 1], [1, 1, 1]].each do |probe, none, killed_count|
      pair = Soak::Pair.new(minutes: 1, seed: 1, say: nil)
      server = Struct.new(:killed) { def signal_worker(_) = killed }
      pair.instance_variable_set(:@servers, {probe: server.new(probe), none: server.new(none)})
      pair.send(:kill_worker)
      assert_equal killed_count, pair.instance_variable_get(:@killed_count)
    end
  end

  test "the page tells the growth of each worker, what of it is promised, and which loss is excluded" do
    page = Soak::Page.new(machine: PumaTuner::Probe::MachineFacts.read, result: hour(growth: in_steps)).to_s
    assert_match(/All promises were kept/, page)
    assert_match(/kill worker 10/, page)
    assert_match(/8192 KiB were in a worker's RSS/, page)
    assert_includes page, "| requests that each worker served in the second half of the quiet time | 160,000; 160,000 | 160,000; 160,000 |"
    assert_includes page, "| growth of its RSS meanwhile, but for its ledger, KiB | 1024; 1024 | 1024; 1024 |"
    assert_includes page, "µs, without that of processes that it forked | 700; 700 | 700; 700 |"
    words = page.split.join(" ")
    assert_includes words, "At most 16 are promised"
    assert_includes words, "lost at most 9 bytes at each request: by that difference"
    assert_includes words, "at most 81 at the requests to a single one of the 9 paths"
    assert_includes words, "in the quiet half | 500 | 520 |"
    assert_includes words, "answered 78% as many requests"
  end

  test "a slow client's response is told from another, and from none" do
    counted = ["200 OK\r\n\r\nfine", "200 OK\r\n\r\nother", "503 Service Unavailable\r\n\r\n"].map do |told|
      listener = TCPServer.new("127.0.0.1", 0)
      server = Struct.new(:url).new("http://127.0.0.1:#{listener.local_address.ip_port}")
      loaded = Soak::Loaded.new(server, "nowhere", nil, rest_s: 0)
      client = loaded.slow_client.last
      connection = listener.accept
      connection.gets("\r\n\r\n")
      connection.write("HTTP/1.1 #{told}")
      connection.close
      client.join
      loaded.instance_variable_get(:@counts).to_a
    ensure
      listener.close
    end
    assert_equal [[0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]], counted
  end

  test "a worker has a sample once it has its app, and none when it has ended, whether Puma has seen that or not" do
    Dir.mktmpdir do |folder|
      loaded = Soak::Loaded.new(nil, folder, nil, rest_s: 0)
      assert_nil loaded.sample(Process.pid), "it boots"
      pid = spawn("true")
      [Process.pid, pid].each { |one| File.write(File.join(folder, "served-#{one}"), "xxx") }
      assert_equal 3, loaded.sample(Process.pid).requests_count
      wait_until("its end") { PumaTuner::Probe::Processes.stat(pid).first == "Z" }
      assert_nil loaded.sample(pid)
    ensure
      Process.wait(pid) if pid
    end
  end

  test "a response with another status or text than the app gives is told apart" do
    loaded = Soak::Loaded.allocate
    right = ->(*told) { loaded.send(:right?, *told) }
    assert right.call("/", "200", "fine")
    assert right.call("/raise", "500", "whatever Puma says")
    assert right.call("/stream", "200", "data: 0\n\ndata: 1\n\ndata: 2\n\n")
    [["/", "500", "fine"], ["/", "200", ""], ["/", "200", nil], ["/raise", "200", "fine"], ["/stream", "200", "data: 0\n\n"]].each do |told|
      refute right.call(*told), told.inspect
    end
  end

  test "what a server says is kept from its first line on, though its log is not" do
    complaints = Soak::Complaints.new
    ["puma_tuner: x\n", "all is well\n", "a [BUG] y\xff\n", "puma_tuner: x\n"].each { |line| complaints.write(line) }
    assert_equal ["puma_tuner: x", "a [BUG] y\uFFFD"], complaints.lines
  end

  test "less than an hour is not worth the page" do
    assert_raises(OptionParser::InvalidArgument) { Soak::Options.parse(%w[--minutes 10 --write]) }
    assert Soak::Options.parse(%w[--write]).whole?
  end

  # Its first three events are a restart in place, a reader that is killed, and a burst.
  SEED = 14

  # Twelve clients without a rest would keep both cores busy for a minute and a half, while other tests wait for them. With it each kind of
  # request still comes some hundred times to each worker before its memory is compared, and bursts saturate all.
  REST_S = 0.02

  test "a soak of a minute breaks no promise" do
    result = Soak::Pair.new(minutes: 1, seed: SEED, say: ->(_) {}, rest_s: REST_S).run
    assert_operator result.counts[:probe].answered, :>, 1_000
    assert_operator result.events.values.sum, :>=, 3
    assert_operator result.growth.rises(:probe, :requests_count).min, :>, 100
    assert_empty result.broken
  end
end
