# frozen_string_literal: true

require "test_helper"

class WarmupRunTest < TunerTest
  WarmupRun = PumaTuner::Prove::WarmupRun

  def window(cpu: 100, compiled: 1_000, pages: 500) = WarmupRun::Window.new(requests_count: 10, cpu_per_request_ns: cpu, compiled_count: compiled, heap_pages_count: pages)

  # @param windows [Array<Window>] the last one goes on for ever
  def warmup(windows, limit_s: 20)
    sent = windows.dup
    WarmupRun.new(window_s: 0.001, limit_s:) { |seconds| sleep(seconds) && ((sent.size > 1) ? sent.shift : sent.first) }.call
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

  test "noise is no warming up" do
    assert_empty WarmupRun.moving([window(cpu: 110), window(cpu: 90), window(cpu: 104)])
    assert_empty WarmupRun.moving([window(cpu: 90), window(cpu: 100), window(cpu: 110)])
  end

  test "what never settles is said to be not steady, and why" do
    count = 0
    result = WarmupRun.new(window_s: 0.001, limit_s: 0.05) { |seconds| sleep(seconds) && window(pages: 2**(count += 1)) }.call
    refute result.steady
    assert_match(/the heap had not settled after \d+ windows/, result.reason)
  end

  test "what is unknown is not waited for" do
    assert warmup([window(cpu: nil, compiled: nil, pages: nil)]).steady
  end
end
