# frozen_string_literal: true

require "test_helper"

class BlockSteadinessTest < TunerTest
  Steadiness = PumaTuner::Block::Steadiness

  # @param cpu [Array<Numeric>] per iteration, of each window
  # @param compiled, code, pages [Array<Integer>] gauges at the windows' borders, one more than there are windows
  def windows(cpu, compiled: nil, code: nil, pages: nil, calls_before: 1_000)
    cpu.each_with_index.map do |ns, place|
      before, after = [place, place + 1].map do |border|
        {compiled_count: compiled && compiled[border], code_bytes: code && code[border], heap_pages_count: pages ? pages[border] : 100}
      end
      Steadiness::Window.new(iterations_count: 10, calls_before: calls_before + place, cpu_ns: ns * 10, before:, after:)
    end
  end

  def complaint(...) = Steadiness.complaint(windows(...))

  LEVEL = [100, 101, 100, 99, 100].freeze
  SAME = Array.new(6, 7).freeze

  test "level CPU with nothing growing is steady" do
    assert_nil complaint(LEVEL)
    assert_nil complaint(LEVEL, compiled: SAME, code: SAME)
  end

  test "fewer windows than can tell are not" do
    assert_match(/4 windows are too few/, complaint(LEVEL.first(4)))
  end

  test "what happened before the last windows does not count" do
    assert_nil complaint([900, 500, 300] + LEVEL, compiled: [1, 4, 7] + SAME, pages: [1, 2, 50] + Array.new(6, 100))
  end

  test "falling CPU is a warm-up, also when it falls ever slower" do
    assert_match(/CPU per iteration/, complaint([100, 90, 80, 70, 60]))
    assert_match(/CPU per iteration/, complaint([100, 60, 50, 45, 43]))
  end

  test "rising CPU is not steady either" do
    assert_match(/CPU per iteration/, complaint([60, 70, 80, 90, 100]))
  end

  test "noise without a slope is steady" do
    assert_nil complaint([100, 130, 90, 125, 105])
  end

  test "a slope of less than two percent is steady, however exact" do
    assert_nil complaint([100.0, 100.4, 100.8, 101.2, 101.6])
    assert_match(/CPU per iteration/, complaint([100.0, 101, 102, 103, 104]))
  end

  test "a block that uses no CPU is steady" do
    assert_nil complaint([0, 0, 0, 0, 0])
  end

  test "YJIT's compiling is a warm-up, by methods or by code" do
    assert_match(/YJIT still compiled/, complaint(LEVEL, compiled: [7, 7, 7, 7, 7, 8], code: SAME))
    assert_match(/YJIT still compiled/, complaint(LEVEL, compiled: SAME, code: [10, 20, 20, 20, 20, 20]))
  end

  test "a block that was not called often enough for YJIT to compile it is not steady" do
    assert_match(/30th call/, complaint(LEVEL, compiled: SAME, code: SAME, calls_before: 29))
    assert_nil complaint(LEVEL, compiled: SAME, code: SAME, calls_before: 30)
    assert_nil complaint(LEVEL, calls_before: 1)
  end

  test "what YJIT compiles between two windows is not the block's" do
    last = windows(LEVEL, compiled: SAME, code: SAME)
    last[3] = last[3].with(before: last[3].before.merge(compiled_count: 9), after: last[3].after.merge(compiled_count: 9))
    assert_nil Steadiness.complaint(last)
  end

  test "a growing heap is a warm-up; pages taken and given back are not" do
    assert_match(/heap still grew/, complaint(LEVEL, pages: [100, 101, 102, 103, 104, 105]))
    assert_nil complaint(LEVEL, pages: [100, 105, 98, 110, 97, 101])
    assert_nil complaint(LEVEL, pages: [100, 99, 98, 97, 96, 95])
  end
end
