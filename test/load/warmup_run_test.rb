# frozen_string_literal: true

require "test_helper"

class WarmupRunTest < TunerTest
  WarmupRun = PumaTuner::Load::WarmupRun

  def window(cpu: 100, gc: 10, compiled: 1_000, pages: 500, live: 9_000, collections: nil, answered: [0])
    WarmupRun::Window.new(requests_count: 10, answered:, cpu_per_request_ns: cpu, gc_per_request_ns: gc, compiled_count: compiled,
      heap_pages_count: pages, live_count: live,
      gc_count: collections || (@collections_count = @collections_count.to_i + 1))
  end

  # @param weights [Array<Integer>] of the mix's requests
  def traffic(*weights)
    mix = PumaTuner::Load::Mix.new(requests: weights.map { |weight| PumaTuner::Load::Request.new(path: "/", weight:) })
    PumaTuner::Load::Traffic.new(mix:, generator: nil, connections_count: 1, seed: 7)
  end

  # @param windows [Array<Window>] the last one goes on forever
  def warmup(windows, limit_s: 20)
    sent = windows.dup
    warmup_of(traffic(1), limit_s:) { (sent.size > 1) ? sent.shift : sent.first }
  end

  # @yieldparam traffic [Traffic] of a window
  # @yieldreturn [Window]
  def warmup_of(traffic, limit_s: 20)
    WarmupRun.new(traffic:, window_s: 0.001, limit_s:) { |own, seconds| sleep(seconds) && yield(own) }.call
  end

  # @return [Array(Warmup, Array<Array<Integer>>)] with the requests that each window was sent, of an app that answers so many
  def warmup_of_slow_app(traffic, requests_count)
    sent = []
    result = warmup_of(traffic) do |own|
      sent << own.mix.order(own.seed).first(requests_count)
      window(answered: sent.last.uniq)
    end
    [result, sent]
  end

  test "flat from the start takes three windows" do
    result = warmup([window])
    assert result.steady
    assert_equal 3, result.windows_count
    assert_equal 30, result.requests_count
    assert_equal [100, 100, 100], result.cpu_per_request_ns
  end

  test "falling CPU, growing code and a growing heap are waited for" do
    assert_operator warmup([window(cpu: 200), window(cpu: 150), window(cpu: 120), window(cpu: 101), window]).windows_count, :>=, 5
    assert_operator warmup([window, window, window(compiled: 1_100), window(compiled: 1_200)]).windows_count, :>, 3
    assert_operator warmup([window, window, window(pages: 600), window(pages: 600)]).windows_count, :>, 3
  end

  test "a slow server that compiles little by little is waited for until little has come since the middle" do
    counts = [1_000, 1_100, 1_200, 1_300, 1_309, 1_318, 1_327]
    assert_equal 7, warmup(counts.map { |count| window(compiled: count) }).windows_count
    assert_equal ["compiled code"], WarmupRun.moving(counts.first(6).map { |count| window(compiled: count) })
  end

  test "garbage collection per request that rises or falls is waited for, as far as it matters beside the CPU" do
    assert_equal 5, warmup([40, 25, 12, 10, 11].map { |gc| window(gc:) }).windows_count
    assert_equal 5, warmup([0, 4, 9, 10, 9].map { |gc| window(gc:) }).windows_count
    assert_equal 3, warmup([14, 12, 10].map { |gc| window(gc:) }).windows_count
    assert_equal ["garbage collection per request"], WarmupRun.moving([40, 25, 12].map { |gc| window(gc:) })
  end

  test "a heap that fills though it is collected is waited for; what fills it between two collections is garbage" do
    assert_equal 6, warmup([5_000, 6_500, 8_000, 9_000, 9_001, 9_000].map { |live| window(live:) }).windows_count
    assert_equal ["the heap"], WarmupRun.moving([5_000, 6_500, 8_000].map { |live| window(live:) })
    assert_empty WarmupRun.moving([9_000, 8_000, 7_000].map { |live| window(live:) })
    assert_empty WarmupRun.moving([5_000, 6_500, 8_000].map { |live| window(live:, collections: 3) })
  end

  # A heap that fills and is collected in turns, a collection that takes its
  # share of some windows, CPU with its scatter.
  test "noise around a level is waited for a few windows at most, nearly always" do
    random = Random.new(7)
    counts = Array.new(200) do
      windows = Array.new(60) { window(cpu: 100 + random.rand(-10..10), gc: 10 + random.rand(-9..9), live: 9_000 + random.rand(-400..400)) }
      warmup(windows).windows_count
    end
    assert_operator counts.count { |count| count <= 6 }, :>, 180
    assert_operator counts.sort[100], :<=, 4
  end

  test "a server that keeps drifting is never steady, and its warm-up ends at the limit" do
    number = 0
    result = warmup_of(traffic(1), limit_s: 0.05) { window(gc: 10 * (number += 1)) }
    refute result.steady
    assert_match(/garbage collection per request had not settled after \d+ windows/, result.reason)
  end

  test "noise is no warming up" do
    assert_empty WarmupRun.moving([window(cpu: 110), window(cpu: 90), window(cpu: 104)])
    assert_empty WarmupRun.moving([window(cpu: 90), window(cpu: 100), window(cpu: 110)])
  end

  test "a server that never settles is reported as not steady, with the reason" do
    count = 0
    result = warmup_of(traffic(1), limit_s: 0.05) { window(pages: 2**(count += 1)) }
    refute result.steady
    assert_match(/the heap had not settled after \d+ windows/, result.reason)
  end

  test "unknown figures are not waited for" do
    assert warmup([window(cpu: nil, gc: nil, compiled: nil, pages: nil, live: nil, answered: nil)]).steady
    assert_equal 3, warmup_of(traffic(1, 1)) { window(answered: nil) }.windows_count
  end

  test "of a mix of many requests nearly all are waited for, however few a slow app answers in a window" do
    result, sent = warmup_of_slow_app(traffic(*[1] * 100), 20)
    assert_equal [true, 5], [result.steady, result.windows_count]
    assert_equal (0...100).to_a, sent.flatten.sort
  end

  test "rare requests are not waited for; the most frequent come first" do
    result, sent = warmup_of_slow_app(traffic(*[1] * 30, 900, 100), 5)
    assert_equal [3, [30, 31]], [result.windows_count, sent.first.first(2)]
  end

  test "each window has an order of its own, which is not that of any turn of a trial" do
    seeds = []
    warmup_of(traffic(1)) { |own| (seeds << own.seed) && window(cpu: 200 - 20 * [seeds.size, 5].min) }
    assert_equal seeds.uniq, seeds
    assert_empty seeds & (7..107).to_a # of up to 100 turns
  end

  test "a mix of which nothing is answered but a part is not steady, with how much it is, and what else moved" do
    result = warmup_of(traffic(3, 1), limit_s: 0.05) { window(answered: [0]) }
    refute result.steady
    assert_match(/\A25\.0% of the mix had had no response after \d+ windows\z/, result.reason)
    number = 0
    both = warmup_of(traffic(3, 1), limit_s: 0.05) { window(answered: [1], gc: 10 * (number += 1)) }
    assert_match(/\Agarbage collection per request had not settled, and 75\.0% of the mix had had no response after/, both.reason)
  end
end
